import { untilAborted } from '../streams/abort.ts'
import type { CheckedCall } from './checked-call.ts'
import type { Frame } from './frame.ts'
import { createRunawayGuard } from './runaway.ts'
import { isToStop } from './stop-when.ts'
import type { ToolBatchOutcome } from './tool-batch.ts'

/**
 * After a step's calls: `end` where a condition of the agent holds, `answer` where it goes round in circles and is told to
 * answer without tools. Throws the signal's reason when that aborts.
 */
export async function nextMove ({ agent, state, run: { deps: { log } } }: Frame, calls: readonly CheckedCall[], { results }: ToolBatchOutcome, signal: AbortSignal): Promise<'go-on' | 'answer' | 'end'> {
  if (results.some(({ ran }) => ran) && await untilAborted(isToStop(agent.stopWhen, state, { calls, log }), signal)) return 'end'
  state.runaway ??= createRunawayGuard()
  const circling = state.runaway.observe(results.map(({ call: { toolName, input }, outcome }) => ({ toolName, input, outcome })))
  if (circling === undefined) return 'go-on'
  state.messages.push({ role: 'user', content: circling })
  return 'answer'
}
