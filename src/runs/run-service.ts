import type { Principal } from '../auth/principal.ts'
import { AppError, notFound, RunStopped } from '../errors.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { ChatService } from './chat.ts'
import type { RunRegistry } from './run-registry.ts'
import type { Run, TurnStore } from './turn-store.ts'

/** Runs by id. What is not there, or not for the caller to see, is not_found. */
export interface RunService {
  get: (principal: Principal, runId: string) => Promise<Run>
  /** The run's events after `after` (-1: all), while this process holds them. */
  events: (principal: Principal, runId: string, after: number) => Promise<(signal: AbortSignal) => BatchStream<RunEvent>>
  /** Idempotent: a run that has ended stays as it is. */
  stop: (principal: Principal, runId: string) => Promise<void>
}

export function createRunService ({ turns, access, runs, chat }: { turns: TurnStore, access: ThreadAccess, runs: RunRegistry, chat: ChatService }): RunService {
  return {
    get: async (principal, runId) => await get(await enter(principal, 'view_thread', runId), runId),
    async events (principal, runId, after) {
      const asker = await enter(principal, 'view_thread', runId)
      if (runs.known(asker, runId) === undefined) {
        await get(asker, runId)
        throw new AppError('not_found', "This run's events are not kept any more. Its message is in the thread's history.")
      }
      return (signal) => runs.follow(runId, { after, signal })
    },
    async stop (principal, runId) {
      const asker = await enter(principal, 'chat', runId)
      if (runs.known(asker, runId) !== undefined && await runs.stop(runId, new RunStopped('stopped by the user'))) return
      const run = await get(asker, runId)
      if (run.status === 'running' || run.status === 'suspended') await chat.stop(asker, run.threadId)
    }
  }

  /** A run without a thread is for whoever began it. */
  async function enter (principal: Principal, operation: 'view_thread' | 'chat', runId: string): Promise<Principal> {
    const known = runs.known(principal, runId)
    return known !== undefined && known.threadId === undefined ? principal : await access.enter(principal, operation, { runId })
  }

  async function get (principal: Principal, runId: string): Promise<Run> {
    const run = await turns.run(principal, runId)
    if (run === undefined) throw notFound('run')
    return run
  }
}
