import { anonymous } from '../../src/auth/principal.ts'
import type { Integrations } from '../../src/tools/integrations.ts'
import type { Tool, ToolContext } from '../../src/tools/tool.ts'

/** What a run hands to its providers and tools. */
export function runContext (given: Partial<ToolContext> = {}): ToolContext {
  return { principal: anonymous, threadId: undefined, runId: 'run-1', callId: 'call-1', agentPath: [], metadata: {}, signal: new AbortController().signal, report: () => {}, ...given }
}

/** The tools a run gets of one integration. */
export async function toolsOf ({ providers }: Integrations, name: string, given: Partial<ToolContext> = {}): Promise<readonly Tool[]> {
  return [await providers.get(name)?.(runContext(given)) ?? []].flat()
}

/** Calls a tool as a run does, by the name that the model knows. */
export async function callTool (tools: readonly Tool[], name: string, input: object = {}, given: Partial<ToolContext> = {}): Promise<unknown> {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool === undefined) throw new Error(`There is no tool "${name}"`)
  return await tool.execute?.(input as never, runContext(given)) // what it takes is up to the test
}
