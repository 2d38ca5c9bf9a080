import type { Storage } from './storage.ts'

/** The storages that need no definition. */
export const builtInStorages = ['database', 'memory', 'none'] as const

export interface StorageContext {
  /** The service's own stores in another database: `file:<path>` or `postgresql://...`. */
  readonly openDatabase: (url: string) => Promise<Storage>
}

export interface StorageDefinition {
  /** What its threads are found by for ever. */
  readonly name: string
  /** Called once, at start, where an agent has this storage; it is closed with the service. */
  readonly open: (context: StorageContext) => Promise<Storage>
}

export interface CustomStorage extends StorageDefinition {
  readonly kind: 'storage'
}

/** What an agent may say of where its threads are kept. */
export type StorageChoice = typeof builtInStorages[number] | CustomStorage

/** A storage of one's own. Throws for a name that cannot be one, and without a function that opens it. */
export function defineStorage ({ name, open }: StorageDefinition): CustomStorage {
  const storage = { kind: 'storage', name, open } as const
  if (!isCustomStorage(storage)) throw new TypeError(`A storage needs ${storageNeeds}`)
  return Object.freeze(storage)
}

export const storageNeeds = `a name of lower-case letters, digits, "_" or "-" that is none of ${builtInStorages.join(', ')}, and a function "open"`

export function isCustomStorage (value: unknown): value is CustomStorage {
  if (typeof value !== 'object' || value === null) return false
  const { kind, name, open } = value as Partial<Record<keyof CustomStorage, unknown>>
  return kind === 'storage' && typeof open === 'function' && typeof name === 'string' && /^[a-z][a-z0-9_-]{0,31}$/.test(name) && !(builtInStorages as readonly string[]).includes(name)
}

export function storageName (storage: StorageChoice): string {
  return typeof storage === 'string' ? storage : storage.name
}
