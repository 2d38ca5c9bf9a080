import type { Principal } from '../auth/principal.ts'
import { AppError } from '../errors.ts'
import type { Run, TurnPlan, TurnStore, TurnView } from '../runs/turn-store.ts'
import { fromEach, inEach } from './every-storage.ts'
import type { Owner } from './placements.ts'
import { databaseName, threadOwner, type ThreadRouter } from './thread-router.ts'

export interface RoutedTurns extends TurnStore {
  /** The store of a run that is running: begun here, or seen by recovery. */
  readonly turnsOf: (runId: string) => TurnStore
}

/** A turn that would make a thread: begun anew where that thread is to be. */
class MakesThread extends Error {
  readonly storage: string

  constructor (storage: string) {
    super(`A thread is to be made in ${storage}`)
    this.storage = storage
  }
}

interface Beginning<T> {
  readonly principal: Principal
  readonly threadId: string
  readonly query: Parameters<TurnStore['begin']>[2]
  readonly decide: (view: TurnView) => TurnPlan<T>
}

interface Placed { readonly storage: string, readonly owner: Owner, readonly threadId: string }

// Each time another request was faster.
const maxAttempts = 3

/** The turns of all storages, as of one. */
export function routeTurns (router: ThreadRouter): RoutedTurns {
  const { placements, storages, log } = router
  // Runs that are not in the database: those begun here, until they end, and those that recovery looked at last.
  const begun = new Map<string, Placed>()
  let seen = new Map<string, string>()
  const knownOf = (runId: string) => begun.get(runId)?.storage ?? seen.get(runId)
  const turnsOf = (runId: string) => router.named(knownOf(runId) ?? databaseName).turns
  const turnsOfAny = async (runId: string) => router.named(knownOf(runId) ?? await placements.storageOfItem(runId) ?? databaseName).turns
  const of = async (principal: Principal, threadId: string) => (await router.of(principal, threadId)).turns

  return {
    turnsOf,
    begin: async (principal, threadId, query, decide) => {
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const at = await router.nameOf(principal, threadId)
        try {
          return await beginAt(at, { principal, threadId, query, decide: (view) => withoutThread(decide(view)) })
        } catch (error) {
          if (!(error instanceof MakesThread)) throw error
          const { storage } = error
          const made = await router.make(principal, threadId, storage, () => beginAt(storage, { principal, threadId, query, decide }))
          if (made.kind === 'made') return made.result
        }
      }
      throw new AppError('conflict', 'You already have a thread with this id, of an agent that keeps its threads elsewhere.')
    },
    finish: async (holder, end) => {
      const run = begun.get(end.runId)
      const approvals = end.suspension?.approvals ?? []
      // Before they are told of: an approval that nobody finds could not be decided.
      if (run !== undefined && approvals.length > 0) await placements.addItems(run.owner, run.threadId, approvals.map(({ id }) => id))
      const finished = await turnsOf(end.runId).finish(holder, end)
      if (finished) begun.delete(end.runId)
      return finished
    },
    checkpoint: async (holder, checkpoints) => {
      const stores = new Set(checkpoints.map(({ runId }) => turnsOf(runId)))
      const lost = await Promise.all(Array.from(stores, (turns) => turns.checkpoint(holder, checkpoints.filter(({ runId }) => turnsOf(runId) === turns))))
      return lost.flat()
    },
    suggestTitle: async (principal, threadId, title) => (await of(principal, threadId)).suggestTitle(principal, threadId, title),
    run: async (principal, runId) => (await router.ofItem(runId)).turns.run(principal, runId),
    activeRun: async (principal, threadId) => (await of(principal, threadId)).activeRun(principal, threadId),
    renewLeases: (holder, leaseUntil) => inEach(storages.values(), ({ turns }) => turns.renewLeases(holder, leaseUntil)),
    runningRuns: async () => {
      const before = [...begun]
      const answered = new Set<string>()
      const found = await fromEach(storages, log, async ({ turns }, storage) => {
        const runs = await turns.runningRuns()
        answered.add(storage)
        return runs.map((run) => ({ run, storage }))
      })
      seen = new Map(found.flatMap(({ run, storage }) => storage === databaseName ? [] : [[run.id, storage]]))
      // Their threads are gone.
      for (const [runId, { storage }] of before) if (answered.has(storage) && !seen.has(runId)) begun.delete(runId)
      return found.map(({ run }) => run)
    },
    messageOfRun: async (runId) => (await turnsOfAny(runId)).messageOfRun(runId),
    interrupt: async (run: Run, end) => {
      const interrupted = await (await turnsOfAny(run.id)).interrupt(run, end)
      if (interrupted) begun.delete(run.id)
      return interrupted
    }
  }

  async function beginAt<T> (storage: string, { principal, threadId, query, decide }: Beginning<T>): Promise<T> {
    let runId: string | undefined
    const result = await router.named(storage).turns.begin(principal, threadId, query, (view) => {
      const plan = decide(view)
      runId = plan.run?.id
      return plan
    })
    if (runId !== undefined && storage !== databaseName) await place(runId, { storage, owner: threadOwner(principal), threadId })
    return result
  }

  function withoutThread<T> (plan: TurnPlan<T>): TurnPlan<T> {
    if (plan.createThread !== undefined) throw new MakesThread(router.storageOf(plan.createThread.agentId))
    return plan
  }

  async function place (runId: string, placed: Placed): Promise<void> {
    begun.set(runId, placed)
    await placements.addItems(placed.owner, placed.threadId, [runId])
  }
}
