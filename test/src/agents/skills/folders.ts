import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { Tool, ToolContext } from '../../../../src/tools/tool.ts'
import { alice } from '../../../contracts/turns.ts'

export function skillText (name: string, body = `Do as ${name} says.`): string {
  return `---\nname: ${name}\ndescription: All about ${name}.\n---\n${body}\n`
}

/** A folder with these files, which is gone after the test. */
export async function folderOf (t: Test, files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-skills-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

/** Calls a tool as the run loop does. */
export async function use (tool: Tool | undefined, input: unknown): Promise<unknown> {
  const context: ToolContext = { principal: alice, threadId: undefined, runId: 'run-1', callId: 'call-1', agentPath: [], metadata: {}, signal: new AbortController().signal, report () {} }
  return await tool?.execute?.(input as never, context) // checked by the tests that call it
}
