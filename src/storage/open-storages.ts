import type { AgentRegistry } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, isAppError } from '../errors.ts'
import type { Checkpointer } from '../runs/checkpointer.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import type { RunLogger } from '../runtime/log.ts'
import { checkedStorage } from './checked-storage.ts'
import { storageName, type StorageChoice, type StorageContext } from './define-storage.ts'
import { inEach } from './every-storage.ts'
import { layerPlacements } from './layered-placements.ts'
import type { Placements } from './placements.ts'
import { createProcessPlacements } from './process-placements.ts'
import { routeCheckpoints } from './routed-checkpointer.ts'
import { routeStores } from './routed-stores.ts'
import type { Storage, ThreadStores } from './storage.ts'
import { createThreadRouter, databaseName } from './thread-router.ts'

export interface Storages extends Pick<Storage, 'ping' | 'close'> {
  /** The stores that services use: those of the database, or of all storages as of one. */
  readonly stores: ThreadStores
  /** The name of the storage a thread is in. */
  readonly nameOf: (principal: Principal, threadId: string) => Promise<string>
  /** Saves each run where its thread is; `make` is called once for each storage that has runs. */
  readonly checkpointer: (make: (turns: TurnStore) => Checkpointer) => Checkpointer
}

export interface OpenStoragesOptions extends StorageContext {
  readonly agents: Pick<AgentRegistry, 'all' | 'find'>
  /** Stays its owner's to close. */
  readonly database: Storage & { readonly placements: Placements }
  readonly timeStores: <T extends object>(stores: T) => T
  readonly log: RunLogger
  /** How long each call of a storage of one's own may take. */
  readonly patienceMs?: number
}

type Chosen = Exclude<StorageChoice, 'database' | 'none'>

/** Opens the storages that agents have besides the database. Where there are none, the stores are those of the database itself. */
export async function openStorages ({ agents, database, timeStores, log, patienceMs, ...context }: OpenStoragesOptions): Promise<Storages> {
  const chosen = chosenBy(agents)
  const unknown = (await database.placements.storages()).filter((name) => name !== databaseName && !chosen.has(name))
  for (const storage of unknown) log.warn({ storage }, 'there are threads in a storage that no agent has any more: they cannot be read')
  if (chosen.size === 0 && unknown.length === 0) return only(database)

  const storages = new Map<string, Storage>([[databaseName, database]])
  try {
    for (const [name, choice] of chosen) storages.set(name, timeStores(await open(choice, context, patienceMs)))
  } catch (error) {
    await closeAll(storages, log)
    throw error
  }
  const placements = placementsOf(chosen, unknown, database.placements)
  const router = createThreadRouter({ storages, placements, storageOf: (agentId) => newThreadsOf(agents, agentId), log })
  const stores = routeStores(router)
  return {
    stores,
    nameOf: router.nameOf,
    checkpointer: (make) => routeCheckpoints(stores.turns, make),
    ping: () => inEach(storages.values(), (storage) => storage.ping()),
    close: () => closeAll(storages, log)
  }
}

function only (database: Storage): Storages {
  return { stores: database, nameOf: async () => databaseName, checkpointer: (make) => make(database.turns), ping: database.ping, close: async () => {} }
}

function chosenBy (agents: Pick<AgentRegistry, 'all'>): ReadonlyMap<string, Chosen> {
  return new Map(agents.all().flatMap(({ storage }) => storage === 'database' || storage === 'none' ? [] : [[storageName(storage), storage]]))
}

/** Threads in memory end with the process, so what is known of them does too. */
function placementsOf (chosen: ReadonlyMap<string, Chosen>, unknown: readonly string[], lasting: Placements): Placements {
  const process = createProcessPlacements()
  const isLasting = unknown.length > 0 || [...chosen.keys()].some((name) => name !== 'memory')
  return isLasting ? layerPlacements({ process, lasting, memory: 'memory' }) : process
}

function newThreadsOf (agents: Pick<AgentRegistry, 'find'>, agentId: string): string {
  const storage = agents.find(agentId)?.storage ?? 'database'
  return storage === 'none' ? databaseName : storageName(storage)
}

async function open (choice: Chosen, context: StorageContext, patienceMs: number | undefined): Promise<Storage> {
  // One connection, so that all of it is one database.
  if (choice === 'memory') return await context.openDatabase('file::memory:')
  try {
    return checkedStorage(choice.name, await choice.open(context), { patienceMs })
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw new AppError('configuration_error', `The storage "${choice.name}" could not be opened: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** One that cannot be closed holds up neither the others nor the end of the process. */
async function closeAll (storages: ReadonlyMap<string, Storage>, log: RunLogger): Promise<void> {
  await Promise.all(Array.from(storages, async ([name, storage]) => {
    if (name === databaseName) return
    try {
      await storage.close()
    } catch (error) {
      log.warn({ err: error, storage: name }, 'a storage could not be closed')
    }
  }))
}
