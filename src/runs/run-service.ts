import type { Principal } from '../auth/principal.ts'
import { AppError, notFound, RunStopped } from '../errors.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { ChatService } from './chat.ts'
import type { RunRegistry } from './run-registry.ts'
import type { Run, TurnStore } from './turn-store.ts'

/** Runs of one owner, by id. What is not there, or not theirs, is not_found. */
export interface RunService {
  get: (principal: Principal, runId: string) => Promise<Run>
  /** The run's events after `after` (-1: all), while this process holds them. */
  events: (principal: Principal, runId: string, after: number) => Promise<(signal: AbortSignal) => BatchStream<RunEvent>>
  /** Idempotent: a run that has ended stays as it is. */
  stop: (principal: Principal, runId: string) => Promise<void>
}

export function createRunService ({ turns, runs, chat }: { turns: TurnStore, runs: RunRegistry, chat: ChatService }): RunService {
  return {
    get,
    async events (principal, runId, after) {
      if (runs.known(principal, runId) === undefined) {
        await get(principal, runId)
        throw new AppError('not_found', "This run's events are not kept any more. Its message is in the thread's history.")
      }
      return (signal) => runs.follow(runId, { after, signal })
    },
    async stop (principal, runId) {
      if (runs.known(principal, runId) !== undefined && await runs.stop(runId, new RunStopped('stopped by the user'))) return
      const run = await get(principal, runId)
      if (run.status === 'running' || run.status === 'suspended') await chat.stop(principal, run.threadId)
    }
  }

  async function get (principal: Principal, runId: string): Promise<Run> {
    const run = await turns.run(principal, runId)
    if (run === undefined) throw notFound('run')
    return run
  }
}
