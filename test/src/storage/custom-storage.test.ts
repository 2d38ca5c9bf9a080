import t, { type Test } from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { agentId } from '../../../src/agents/ids.ts'
import { openDatabase } from '../../../src/database/database.ts'
import type { RunLogger } from '../../../src/runtime/log.ts'
import { checkedStorage } from '../../../src/storage/checked-storage.ts'
import { defineStorage } from '../../../src/storage/define-storage.ts'
import { openStorages } from '../../../src/storage/open-storages.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { artifactStoreContract } from '../../contracts/artifact-store.ts'
import { memoryContract } from '../../contracts/memory.ts'
import { threadStoreContract } from '../../contracts/thread-store.ts'
import { turnStoreContract } from '../../contracts/turn-store.ts'
import { registryOf } from '../../helpers/app.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'
import { loggedService } from '../../helpers/logged.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'

const open = async (t: Test, agents: readonly AgentDefinition[], { log = loggedService().log, patienceMs }: { log?: RunLogger, patienceMs?: number } = {}) => {
  const database = await openTestDatabase(t, await testDatabaseUrl(t))
  const storages = await openStorages({ agents: registryOf(agents, scriptedModel([['Hi']])), database, log, timeStores: (stores) => stores, openDatabase: (url) => openDatabase({ url }), ...(patienceMs === undefined ? {} : { patienceMs }) })
  t.teardown(() => storages.close())
  return { database, storages }
}

/** A storage as somebody writes one, who keeps what it needs in a class. */
class Archive implements Storage {
  readonly #inside: Storage
  closed = 0

  constructor (inside: Storage) { this.#inside = inside }
  get threads () { return this.#inside.threads }
  get turns () { return this.#inside.turns }
  get approvals () { return this.#inside.approvals }
  get artifacts () { return this.#inside.artifacts }
  get memories () { return this.#inside.memories }
  async ping () { await this.#inside.ping() }
  async close () {
    this.closed++
    await this.#inside.close()
  }
}

for (const { provider, skip } of await availableProviders()) {
  t.test(`a storage of one’s own that is a second database on ${provider} keeps every contract`, { skip }, async (t) => {
    const stores = async (t: Test) => {
      const url = await testDatabaseUrl(t, provider)
      const archive = defineStorage({ name: 'archive', open: async ({ openDatabase }) => new Archive(await openDatabase(url)) })
      const storage = checkedStorage(archive.name, await archive.open({ openDatabase: (url) => openDatabase({ url }) }))
      t.teardown(() => storage.close())
      return storage
    }
    threadStoreContract(t, stores)
    turnStoreContract(t, stores)
    artifactStoreContract(t, stores)
    memoryContract(t, async (t) => {
      const { memories: memory, threads } = await stores(t)
      return { memory, addThread: (principal, id) => threads.create(principal, { id, agentId: 'agent' }) }
    })
  })
}

t.test('where every agent keeps to the database, the stores are its own', async (t) => {
  const { database, storages } = await open(t, [{ key: 'a' }, { key: 'b', storage: 'none' }])
  t.equal(storages.stores, database)
})

t.test('a storage is opened once for all agents that have it, and closed once, whatever its methods are made of', async (t) => {
  const opened: Archive[] = []
  const archive = defineStorage({
    name: 'archive',
    open: async ({ openDatabase }) => {
      opened.push(new Archive(await openDatabase('file::memory:')))
      return opened.at(-1)! // pushed just now
    }
  })
  const { storages } = await open(t, [{ key: 'a', storage: archive }, { key: 'b', storage: archive }, { key: 'c', storage: 'memory' }])
  t.equal(opened.length, 1)
  t.strictSame((await storages.stores.threads.list({ tenantId: 't', userId: 'u', roles: [] }, { limit: 1 })).items, [])
  await storages.ping()
  await storages.close()
  t.equal(opened[0]?.closed, 1)
  await t.rejects(storages.ping(), { code: 'storage_unavailable' }, 'readiness asks all of them')
})

t.test('a storage that lacks something, or does not open, is a reason not to start, in one line', async (t) => {
  const lacking = async ({ openDatabase }: { openDatabase: (url: string) => Promise<Storage> }) => {
    const { threads, turns, ...rest } = await openDatabase('file::memory:')
    return { ...rest, threads: { ...threads, locate: undefined } } as unknown as Storage // as code without types may do
  }
  const starting = (open: (context: { openDatabase: (url: string) => Promise<Storage> }) => Promise<Storage>) => openWith(t, open)
  await t.rejects(starting(lacking), { code: 'configuration_error', message: /"archive" opens has no threads\.locate, turns\.begin, / })
  await t.rejects(starting(async () => undefined as unknown as Storage), { code: 'configuration_error', message: /no threads\.create, / }) // as code without types may do
  await t.rejects(starting(async () => { throw new Error('no such bucket') }), { code: 'configuration_error', message: 'The storage "archive" could not be opened: no such bucket' })
  await t.rejects(starting(({ openDatabase }) => openDatabase('postgresql://u:secret@127.0.0.1:1/x')), { code: 'storage_unavailable', message: /127\.0\.0\.1:1/ })
})

t.test('a storage that does not answer, or fails in another way than it should, holds up nothing but what is asked of it', async (t) => {
  const caller = { tenantId: 't', userId: 'u', roles: [] }
  const opened = (fault: () => Promise<never>) => open(t, [{
    key: 'b',
    storage: defineStorage({
      name: 'archive',
      open: async ({ openDatabase }) => {
        const { threads, turns, ...rest } = await openDatabase('file::memory:')
        return { ...rest, threads: { ...threads, get: fault, removeAll: fault }, turns: { ...turns, begin: fault, renewLeases: fault, runningRuns: fault }, ping: fault }
      }
    })
  }, { key: 'a', storage: 'memory' }], { patienceMs: 50 })
  const faults = {
    hangs: { fault: () => new Promise<never>(() => {}), code: 'storage_unavailable' },
    'throws before it promises anything': { fault: () => { throw Object.assign(new Error('no bucket'), { code: 'ENOBUCKET' }) }, code: 'ENOBUCKET' }
  }
  for (const [name, { fault, code }] of Object.entries(faults)) {
    t.test(name, async (t) => {
      const { storages: { stores, ping } } = await opened(fault)
      await t.rejects(ping(), { code })
      await t.rejects(stores.turns.begin(caller, 'archived', { contextLimit: 1 }, () => ({ messages: [], createThread: { agentId: agentId('b') }, result: 0 })), { code })
      await t.rejects(stores.turns.renewLeases('holder', new Date()), { code })
      t.strictSame(await stores.turns.runningRuns(), [])
      await stores.threads.create(caller, { id: 'brief', agentId: agentId('a') })
      await t.rejects(stores.threads.removeAll(caller), { code })
      t.equal(await stores.threads.get(caller, 'brief'), undefined, 'those of the others are removed all the same')
    })
  }
})

t.test('threads of a storage that no agent has any more are warned of at start', async (t) => {
  const logged = loggedService()
  const database = await openTestDatabase(t, await testDatabaseUrl(t))
  await database.placements.claim({ tenantId: 't', ownerId: 'u' }, 'archived-1', 'archive')
  const storages = await openStorages({ agents: registryOf([{ key: 'a' }], scriptedModel([['Hi']])), database, log: logged.log, timeStores: (stores) => stores, openDatabase: (url) => openDatabase({ url }) })
  t.match(logged.lines, [{ level: 40, storage: 'archive' }])
  await t.rejects(storages.stores.threads.get({ tenantId: 't', userId: 'u', roles: [] }, 'archived-1'), { code: 'configuration_error' })
})

async function openWith (t: Test, openArchive: (context: { openDatabase: (url: string) => Promise<Storage> }) => Promise<Storage>): Promise<unknown> {
  return await open(t, [{ key: 'a', storage: defineStorage({ name: 'archive', open: openArchive }) }])
}

t.test('one that cannot be closed is logged, and holds up no other', async (t) => {
  const logged = loggedService()
  const closed: string[] = []
  const storage = (name: string, close: () => Promise<void>) => defineStorage({
    name,
    open: async ({ openDatabase: openOther }) => {
      const inside = await openOther(await testDatabaseUrl(t))
      return { ...inside, close: async () => { await inside.close(); await close() } }
    }
  })
  const stuck = storage('stuck', () => Promise.reject(new Error('its disk is gone')))
  const other = storage('other', async () => { closed.push('other') })
  const { storages } = await open(t, [{ key: 'first', storage: stuck }, { key: 'second', storage: other }], logged)
  await storages.close()
  t.strictSame(closed, ['other'])
  t.match(logged.lines, [{ msg: 'a storage could not be closed', storage: 'stuck' }])
})
