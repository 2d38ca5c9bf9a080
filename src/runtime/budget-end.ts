import type { RunEventBody } from '../events/run-event.ts'
import { createBlockWriter } from './block-writer.ts'
import type { CheckedCall } from './checked-call.ts'
import type { RunState } from './run-state.ts'

const notRun = 'The budget of this run is used up, so this call was not run. Answer now from what you have.'

export interface UnaffordableCalls {
  readonly events: readonly RunEventBody[]
  /** What the model reads, per call. */
  readonly results: ReadonlyArray<{ readonly call: CheckedCall, readonly content: string, readonly ran: false }>
}

/**
 * The calls of a step that are not run for want of budget: each is answered, so that the turn stays well formed, and what
 * the model reads tells it to answer.
 */
export function unaffordable (calls: readonly CheckedCall[]): UnaffordableCalls {
  return {
    // The input of a call that is not ok was its answer already.
    events: calls.flatMap((call) => call.ok ? [{ type: 'tool-error', callId: call.callId, code: 'quota_exceeded', message: notRun }] : []),
    results: calls.map((call) => ({ call, content: call.ok ? notRun : call.problem, ran: false }))
  }
}

/**
 * What the user is told where the budget does not even allow the model to answer: a step of its own, so that clients that
 * send tool results by themselves do not take the calls before it for a run that waits.
 */
export function budgetNotice (state: Pick<RunState, 'step' | 'nextBlockId'>): RunEventBody[] {
  const step = state.step + 1
  const events: RunEventBody[] = [{ type: 'step-start', step }]
  const blocks = createBlockWriter(state.nextBlockId)
  blocks.text('I stopped because the budget of this run is used up.', events)
  blocks.close(events)
  return [...events, { type: 'step-end', step }]
}
