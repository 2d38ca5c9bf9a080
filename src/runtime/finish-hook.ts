import type { Agent } from '../agents/agent.ts'
import type { HookContext, RunOutcome } from '../agents/hooks.ts'
import type { FinishReason, TerminalEvent } from '../events/run-event.ts'
import type { Spent } from './ledger.ts'
import type { RunLogger } from './log.ts'
import { tellSafely } from './tell-safely.ts'

export interface Finished extends Spent {
  readonly end: TerminalEvent
  /** The model's, where the answer is whole. */
  readonly finishReason: FinishReason | undefined
}

const states: Readonly<Record<TerminalEvent['type'], RunOutcome['state']>> = {
  'run-completed': 'completed',
  'run-suspended': 'suspended',
  'run-stopped': 'stopped',
  'run-failed': 'failed',
  'run-interrupted': 'interrupted'
}

/** Tells the agent's `onFinish` how the run ended: the first time it is called, and never again. */
export function finishHook ({ onFinish }: Agent, context: HookContext, log: RunLogger): (finished: Finished) => void {
  let told = onFinish === undefined
  return (finished) => {
    if (told) return
    told = true
    tellSafely('onFinish', () => onFinish?.(outcomeOf(finished), context), log)
  }
}

function outcomeOf ({ end, finishReason, usage, costUsd }: Finished): RunOutcome {
  return {
    usage,
    state: states[end.type],
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(end.type === 'run-failed' || end.type === 'run-interrupted' ? { errorCode: end.code } : {})
  }
}
