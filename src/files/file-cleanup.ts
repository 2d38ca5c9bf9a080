import type { Principal } from '../auth/principal.ts'
import { textKey } from './file.ts'
import type { FileStorage } from './file-storage.ts'
import type { FileStore } from './file-store.ts'

/** Bytes go with the rows they belong to. */
export interface FileCleanup {
  /** Removes a thread, or all threads of the principal, by `work`, and then the bytes of their files. */
  withThreads: <T>(principal: Principal, threadId: string | undefined, work: () => Promise<T>) => Promise<T>
  /** Removes bytes that belong to no file any more, as a process leaves them that ends between the two. */
  sweep: () => Promise<void>
}

export interface FileCleanupOptions {
  readonly store: Pick<FileStore, 'keysOf' | 'knownKeys' | 'databaseId'>
  readonly storage: FileStorage
  readonly log: { warn: (fields: object, message: string) => void }
}

// Bytes are there shortly before their row is.
const settledAfterMs = 3_600_000

export function createFileCleanup ({ store, storage, log }: FileCleanupOptions): FileCleanup {
  return {
    withThreads: async (principal, threadId, work) => {
      const before = await store.keysOf(principal, threadId)
      const result = await work()
      const known = await store.knownKeys(before)
      try {
        await storage.remove(before.filter((key) => !known.has(key)).flatMap((key) => [key, textKey(key)]))
      } catch (error) {
        // The threads are gone; the sweep gets what is left.
        log.warn({ err: error }, 'the bytes of removed files are still there')
      }
      return result
    },
    sweep: async () => {
      await storage.removeStale()
      // Of another database's files nothing is known here: none of them would have an owner.
      if (!await storage.belongsTo(await store.databaseId())) {
        log.warn({}, 'the folder of files belongs to another database: nothing in it is cleared')
        return
      }
      for await (const keys of storage.settledKeys(settledAfterMs)) {
        const owners = keys.map((key) => key.split('.')[0] ?? key)
        const known = await store.knownKeys(owners)
        await storage.remove(keys.filter((_, index) => !known.has(owners[index] ?? '')))
      }
    }
  }
}
