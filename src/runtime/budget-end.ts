import type { RunEventBody } from '../events/run-event.ts'
import { noUsage, type Usage } from '../events/usage.ts'
import { costOf } from '../models/prices.ts'
import { withAnswer } from './call-estimate.ts'
import type { CheckedCall } from './checked-call.ts'
import type { Frame } from './frame.ts'
import type { ToolBatchOutcome } from './tool-batch.ts'

const notRun = 'The budget of this run is used up, so this call was not run. Answer now from what you have.'

/**
 * Whether the budgets have room for the call that follows a step's tools, and for an answer after it. `usage` is the step's:
 * the next request holds what this one held, and what was said.
 */
export function hasRoomToGoOn ({ agent, state, run: { deps } }: Frame, usage: Usage): boolean {
  const tokens = usage.input + usage.output
  return state.ledger.allows(withAnswer({ tokens, costUsd: costOf(deps.models.get(agent.model), { ...noUsage, input: tokens }) }))
}

/**
 * The calls of a step that are not run for want of budget: each is answered, so that the turn stays well formed, and what
 * the model reads tells it to answer.
 */
export function unaffordable (calls: readonly CheckedCall[]): { readonly events: readonly RunEventBody[], readonly results: ToolBatchOutcome['results'] } {
  return {
    // The input of a call that is not ok was its answer already.
    events: calls.flatMap((call) => call.ok ? [{ type: 'tool-error', callId: call.callId, code: 'quota_exceeded', message: notRun }] : []),
    results: calls.map((call) => ({ call, content: call.ok ? notRun : call.problem, ran: false, outcome: 'skipped' }))
  }
}
