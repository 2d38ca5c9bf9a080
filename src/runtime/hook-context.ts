import type { HookContext } from '../agents/hooks.ts'
import type { Frame } from './frame.ts'

/** For whom and where a frame's agent runs, as its hooks see it. */
export function hookContext ({ path, metadata, run: { principal, threadId, runId } }: Frame, signal: AbortSignal): HookContext {
  return { principal, threadId, runId, metadata, agentPath: path, signal }
}
