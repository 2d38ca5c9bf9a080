import type { RunEventBody } from '../events/run-event.ts'
import type { ModelMessage } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { unaffordable } from './budget-end.ts'
import { isCrewTool } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import type { MemberOptions } from './member.ts'
import type { ModelStepOutcome } from './model-step.ts'
import type { LoopLimits } from './run-input.ts'
import { toolBatch, type ToolBatchOutcome } from './tool-batch.ts'

/** What a step's model said and asked for. */
export type Said = Pick<ModelStepOutcome, 'text' | 'reasoning' | 'calls'>

export interface RunCallsOptions extends Pick<MemberOptions, 'loop' | 'resume'> {
  readonly step: Said
  readonly limits: LoopLimits
}

type Steps<R> = AsyncGenerator<Batch<RunEventBody>, R>

/** Runs the step's calls; once all are answered, the turn is in the conversation. */
export async function * runCalls (frame: Frame, { step, limits, loop, resume }: RunCallsOptions, signal: AbortSignal): Steps<ToolBatchOutcome> {
  const { state, slot } = frame
  const { calls } = step
  // While it waits for members of its own, a member gives up its place to them.
  const delegates = calls.some((call) => call.ok && isCrewTool(call.offered.tool))
  if (delegates) slot?.lend()
  const batch = yield * toolBatch({ frame, calls, callsLeft: limits.maxToolCalls - state.toolCalls, signal, loop, resume })
  if (delegates) await slot?.reclaim(signal)
  if (batch.waiting.length === 0) writeTurn(frame, step, batch.results)
  return batch
}

/** Runs none of them: the budget has no room for what would come after. */
export async function * refuseCalls (frame: Frame, step: Said): Steps<ToolBatchOutcome> {
  const { events, results } = unaffordable(step.calls)
  if (events.length > 0) yield events
  writeTurn(frame, step, results)
  return { results, waiting: [], answer: undefined }
}

/** The assistant with its calls, then a result each. */
function writeTurn ({ state }: Frame, { text, reasoning, calls }: Said, results: ToolBatchOutcome['results']): void {
  const told: ModelMessage[] = results.map(({ call, content }) => ({ role: 'tool', callId: call.callId, toolName: call.modelName, content }))
  state.messages.push(
    { role: 'assistant', text, ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls: calls.map((call) => ({ callId: call.callId, toolName: call.modelName, arguments: call.arguments })) },
    ...told
  )
  state.toolCalls += results.filter(({ ran }) => ran).length
  for (const { call, ran } of results) if (ran) state.calledTools.add(call.toolName)
}
