import type { RunLogger } from '../runtime/log.ts'
import type { ThreadStores } from './storage.ts'
import { databaseName, type ThreadRouter } from './thread-router.ts'

/** Does something in every storage. One that fails holds up none of the others, and is told afterwards. */
export async function inEach<S> (storages: Iterable<S>, work: (storage: S) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(Array.from(storages, work))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** What every storage gives; one that fails gives nothing and is logged, unless it is the database. */
export async function fromEach<T> (storages: ThreadRouter['storages'], log: RunLogger, read: (stores: ThreadStores, name: string) => Promise<readonly T[]>): Promise<T[]> {
  const lists = await Promise.all(Array.from(storages, async ([name, stores]) => {
    try {
      return await read(stores, name)
    } catch (error) {
      if (name === databaseName) throw error
      log.warn({ err: error, storage: name }, 'a storage did not answer')
      return []
    }
  }))
  return lists.flat()
}
