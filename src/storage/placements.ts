/** Whose threads. Ids of threads are unique for each owner only. */
export interface Owner { readonly tenantId: string, readonly ownerId: string }

export interface Placement {
  readonly storage: string
  /** Of whoever took the id last. */
  readonly claim: string
}

/** Where the threads are that are not in the database. Every method is one transaction. */
export interface Placements {
  /** Undefined: in the database, or nowhere. */
  readonly find: (owner: Owner, threadId: string) => Promise<Placement | undefined>
  /** The storages that have a thread of this id, whoever's in the tenant. */
  readonly storagesOf: (tenantId: string, threadId: string) => Promise<readonly string[]>
  /** The storage that a run or an approval is in. */
  readonly storageOfItem: (id: string) => Promise<string | undefined>
  /** Takes the id for a storage, unless another has it: what holds the id then. */
  readonly claim: (owner: Owner, threadId: string, storage: string) => Promise<Placement>
  /** Runs or approvals of a thread; nothing where the thread is gone. */
  readonly addItems: (owner: Owner, threadId: string, ids: readonly string[]) => Promise<void>
  /** Gives the id back, with its runs and approvals; nothing where somebody took it again meanwhile. */
  readonly release: (owner: Owner, threadId: string, claim: string) => Promise<void>
  readonly ofOwner: (owner: Owner) => Promise<ReadonlyArray<Placement & { readonly threadId: string }>>
  /** The names of all storages that have something. */
  readonly storages: () => Promise<readonly string[]>
}
