import type { StopCondition } from '../agents/stop-when.ts'
import type { CheckedCall } from './checked-call.ts'
import type { RunLogger } from './log.ts'
import { workedMs, type RunState } from './run-state.ts'

/** Whether one of the conditions holds after a step that ran these calls. Asked one after the other. */
export async function isToStop (conditions: readonly StopCondition[], state: RunState, { calls, log }: { calls: readonly CheckedCall[], log: RunLogger }): Promise<boolean> {
  const { usage, costUsd } = state.ledger.spent()
  const facts = {
    usage, costUsd, step: state.step, messages: state.messages, calledTools: state.calledTools,
    durationMs: workedMs(state),
    calls: calls.map(({ toolName, input }) => ({ toolName, input }))
  }
  for (const condition of conditions) {
    try {
      if (await condition(facts)) return true
    } catch (error) {
      log.error({ err: error }, 'a condition of stopWhen failed')
    }
  }
  return false
}
