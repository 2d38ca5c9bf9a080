import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The reference server of the protocol, which has a tool for everything there is. */
export const everythingServer = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')

export interface EverythingServer {
  readonly url: string
  readonly port: number
  /** Ends it as a crash does. */
  readonly kill: () => Promise<void>
}

/** Runs it on a free port of this machine. */
export async function startEverything (t: Test, transport: 'streamableHttp' | 'sse'): Promise<EverythingServer> {
  const child = spawn(process.execPath, ['--import', join(root, 'test/fixtures/mcp/on-loopback.mjs'), everythingServer, transport], { stdio: ['ignore', 'pipe', 'ignore'] })
  const kill = async () => { await ended(child) }
  t.teardown(kill)
  const port = await portOf(child)
  return { port, url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`, kill }
}

async function portOf (child: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<number> {
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^listening on (\d+)$/.exec(line)?.[1]
    if (port === undefined) continue
    child.stdout.resume() // what it says from now on is of no interest, and must not fill the pipe
    return Number(port)
  }
  throw new Error('The server ended before it listened')
}

async function ended (child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
