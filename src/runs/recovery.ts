import { AppError, toPublicError } from '../errors.ts'
import { closeParts } from '../messages/close-parts.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { RunLogger } from '../runtime/log.ts'
import { isProvablyDead } from './holder.ts'
import type { RunRegistry } from './run-registry.ts'
import type { Run, TurnStore } from './turn-store.ts'

export interface RecoveryOptions {
  readonly turns: TurnStore
  readonly runs: RunRegistry
  readonly holder: string
  readonly log: RunLogger
}

export interface Recovery {
  /** Interrupts the runs whose process is gone; their messages keep what was saved. Returns how many. */
  sweep: () => Promise<number>
  /** The same for one run; false when it is alive. */
  recover: (runId: string) => Promise<boolean>
}

/** At most once, visibly: a run whose process died is not run again, it ends as interrupted and its thread is free. */
export function createRecovery ({ turns, runs, holder, log }: RecoveryOptions): Recovery {
  return {
    async sweep () {
      let recovered = 0
      for (const run of await turns.runningRuns()) if (isAbandoned(run) && await interrupt(run)) recovered++
      return recovered
    },
    async recover (runId) {
      const run = (await turns.runningRuns()).find(({ id }) => id === runId)
      return run !== undefined && isAbandoned(run) && await interrupt(run)
    }
  }

  function isAbandoned (run: Run): boolean {
    // Ours, yet not running here: its end could not be stored.
    if (run.holder === holder) return !runs.isRunning(run.id)
    return run.leaseUntil.getTime() < Date.now() || isProvablyDead(run.holder, holder)
  }

  async function interrupt (run: Run): Promise<boolean> {
    const error = toPublicError(new AppError('shutting_down', 'The service stopped before this answer was complete.'))
    const message = await turns.messageOfRun(run.id)
    const interrupted = await turns.interrupt(run, { parts: withError(message?.parts ?? [], error), errorRef: error.ref })
    if (interrupted) log.warn({ runId: run.id, threadId: run.threadId, ref: error.ref }, 'interrupted a run whose process is gone')
    return interrupted
  }
}

function withError (parts: readonly MessagePart[], { code, message, retryable, ref }: ReturnType<typeof toPublicError>): readonly MessagePart[] {
  return [...closeParts(parts, 'interrupted'), { type: 'data-error', data: { code, message, retryable, ref } }]
}
