import { ownerOf, type Principal } from '../auth/principal.ts'
import { AppError } from '../errors.ts'
import type { RunLogger } from '../runtime/log.ts'
import { oneAtATime } from '../streams/one-at-a-time.ts'
import type { Owner, Placements } from './placements.ts'
import type { ThreadStores } from './storage.ts'

/** The storage of every thread that is said to be in no other. */
export const databaseName = 'database'

export interface ThreadRouterOptions {
  /** By name; the database is one of them. */
  readonly storages: ReadonlyMap<string, ThreadStores>
  readonly placements: Placements
  /** Where new threads of an agent go. */
  readonly storageOf: (agentId: string) => string
  readonly log: RunLogger
}

export type Making<T> =
  | { readonly kind: 'made', readonly result: T }
  /** The id is taken in another storage. */
  | { readonly kind: 'elsewhere' }

/** Knows the storage of every thread, run and approval, and asks no other. */
export interface ThreadRouter extends ThreadRouterOptions {
  /** The name of the storage that has a thread, or that would have it where it is made anew. */
  readonly nameOf: (principal: Principal, threadId: string) => Promise<string>
  readonly of: (principal: Principal, threadId: string) => Promise<ThreadStores>
  /** Of a run or an approval. */
  readonly ofItem: (id: string) => Promise<ThreadStores>
  /** configuration_error for a storage that is not there any more. */
  readonly named: (name: string) => ThreadStores
  /** Those that may have a thread of this id of somebody in the tenant. */
  readonly anyOf: (tenantId: string, threadId: string) => Promise<readonly ThreadStores[]>
  /** Makes a thread in a storage by `work`, alone with its id: no other storage gets one of that id meanwhile. */
  readonly make: <T>(principal: Principal, threadId: string, storage: string, work: (stores: ThreadStores) => Promise<T>) => Promise<Making<T>>
  /** Removes a thread by `work`, and gives its id back. */
  readonly remove: <T>(principal: Principal, threadId: string, work: (stores: ThreadStores) => Promise<T>) => Promise<T>
}

export function createThreadRouter (options: ThreadRouterOptions): ThreadRouter {
  const { storages, placements, log } = options
  const alone = oneAtATime()
  const nameOf = async (principal: Principal, threadId: string) => (await placements.find(threadOwner(principal), threadId))?.storage ?? databaseName

  return {
    ...options,
    nameOf,
    named,
    of: async (principal, threadId) => named(await nameOf(principal, threadId)),
    ofItem: async (id) => named(await placements.storageOfItem(id) ?? databaseName),
    anyOf: async (tenantId, threadId) => [...new Set([databaseName, ...await placements.storagesOf(tenantId, threadId)])].map(named),
    make: (principal, threadId, storage, work) => alone(keyOf(principal, threadId), async () => {
      const owner = threadOwner(principal)
      const { storage: holder, claim } = await placements.claim(owner, threadId, storage)
      if (holder !== storage) return { kind: 'elsewhere' }
      try {
        // One of the database has no placement once it is made.
        if (storage !== databaseName && await named(databaseName).threads.get(principal, threadId) !== undefined) return await givingBack({ kind: 'elsewhere' })
        const result = await work(named(storage))
        return storage === databaseName ? await givingBack({ kind: 'made', result }) : { kind: 'made', result }
      } catch (error) {
        if (!await mayBeThere(principal, threadId, storage)) await givingBack(undefined)
        throw error
      }

      /** One that is not given back is found in its storage all the same. */
      async function givingBack<R> (result: R): Promise<R> {
        await placements.release(owner, threadId, claim).catch((error: unknown) => { log.warn({ err: error, threadId, storage }, 'the id of a thread could not be given back') })
        return result
      }
    }),
    remove: (principal, threadId, work) => alone(keyOf(principal, threadId), async () => {
      const owner = threadOwner(principal)
      const placement = await placements.find(owner, threadId)
      const result = await work(named(placement?.storage ?? databaseName))
      if (placement !== undefined && placement.storage !== databaseName) await placements.release(owner, threadId, placement.claim)
      return result
    })
  }

  function named (name: string): ThreadStores {
    const stores = storages.get(name)
    if (stores === undefined) throw new AppError('configuration_error', `This thread is kept in the storage "${name}", which no agent has any more.`)
    return stores
  }

  /** A write that failed may have been done: what cannot be told is taken for there. */
  async function mayBeThere (principal: Principal, threadId: string, storage: string): Promise<boolean> {
    if (storage === databaseName) return false
    return await named(storage).threads.get(principal, threadId).then((thread) => thread !== undefined, () => true)
  }
}

export function threadOwner (principal: Principal): Owner {
  return { tenantId: principal.tenantId, ownerId: ownerOf(principal) }
}

function keyOf (principal: Principal, threadId: string): string {
  return JSON.stringify([principal.tenantId, ownerOf(principal), threadId])
}
