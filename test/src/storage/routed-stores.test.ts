import t, { type Test } from 'tap'
import { storageUnavailable } from '../../../src/errors.ts'
import { createProcessPlacements } from '../../../src/storage/process-placements.ts'
import { layerPlacements } from '../../../src/storage/layered-placements.ts'
import { routeStores, type RoutedStores } from '../../../src/storage/routed-stores.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { createThreadRouter } from '../../../src/storage/thread-router.ts'
import { artifactStoreContract } from '../../contracts/artifact-store.ts'
import { memoryContract } from '../../contracts/memory.ts'
import { threadStoreContract } from '../../contracts/thread-store.ts'
import { turnStoreContract } from '../../contracts/turn-store.ts'
import { alice, bob, endOf, holder, inOneMinute, planTurn, startTurn, takeTurn } from '../../contracts/turns.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl, type TestProvider } from '../../helpers/databases.ts'
import { loggedService } from '../../helpers/logged.ts'

const layouts: Readonly<Record<string, (agentId: string) => string>> = {
  'with all threads in memory': () => 'memory',
  'with threads here and there': (agentId) => ({ 'agent-1': 'archive', one: 'memory', 'agent-b': 'memory' })[agentId] ?? 'database'
}

// Two services on one database have the storages in common, and nothing else.
interface Routed extends RoutedStores { readonly storages: ReadonlyMap<string, Storage> }

type Stores = Awaited<ReturnType<typeof openAll>>

async function openAll (t: Test, provider: TestProvider) {
  const database = await openTestDatabase(t, await testDatabaseUrl(t, provider))
  const storages = new Map<string, Storage>([['database', database], ['memory', await openTestDatabase(t, 'file::memory:')], ['archive', await openTestDatabase(t, await testDatabaseUrl(t, 'sqlite'))]])
  return { database, storages }
}

function routeOver ({ database, storages }: Stores, storageOf: (agentId: string) => string): Routed {
  const placements = layerPlacements({ process: createProcessPlacements(), lasting: database.placements, memory: 'memory' })
  return { ...routeStores(createThreadRouter({ storages, placements, storageOf, log: loggedService().log })), storages }
}

async function openRouted (t: Test, provider: TestProvider, storageOf: (agentId: string) => string): Promise<Routed> {
  return routeOver(await openAll(t, provider), storageOf)
}

for (const { provider, skip } of await availableProviders()) {
  for (const [layout, storageOf] of Object.entries(layouts)) {
    t.test(`the stores of several storages on ${provider}, ${layout}`, { skip }, async (t) => {
      const open = (t: Test) => openRouted(t, provider, storageOf)
      threadStoreContract(t, open)
      turnStoreContract(t, open)
      artifactStoreContract(t, open)
      memoryContract(t, async (t) => {
        const { memories: memory, threads } = await open(t)
        return { memory, addThread: (principal, id) => threads.create(principal, { id, agentId: 'agent-1' }) }
      })
    })
  }

  const byName = (agentId: string) => agentId
  const places = ['database', 'memory', 'archive']
  const begin = (routed: Routed, threadId: string, agentId: string, principal = alice) => routed.turns.begin(principal, threadId, { contextLimit: 50 }, (view) => {
    const plan = planTurn(view, `asked of ${agentId}`)
    return { ...plan, createThread: view.thread === undefined ? { agentId } : undefined }
  })

  t.test(`a list of several storages on ${provider} has every thread once, newest activity first, page by page`, { skip }, async (t) => {
    const routed = await openRouted(t, provider, byName)
    const ids = Array.from({ length: 31 }, (_, index) => `listed-${index}`)
    for (const [index, id] of ids.entries()) {
      await routed.threads.create(alice, { id, agentId: places[index % 7 % 3] ?? '', title: index % 2 === 0 ? 'Even' : 'Odd' })
      await aMoment()
    }
    await routed.turns.finish(holder, endOf(await begin(routed, 'listed-3', ''), 'ÜBER'))
    const expected = ['listed-3', ...ids.toReversed().filter((id) => id !== 'listed-3')]
    for (const limit of [1, 4, 10, 31, 50]) t.strictSame(await pagesOf(routed, { limit }), expected, `${limit} a page`)
    t.strictSame(await pagesOf(routed, { limit: 2, q: 'über' }), ['listed-3'])
    t.strictSame(await pagesOf(routed, { limit: 2, q: 'even' }), expected.filter((id) => Number(id.slice(7)) % 2 === 0))
    t.strictSame(await pagesOf(routed, { limit: 3, agentId: 'memory' }), expected.filter((id) => Number(id.slice(7)) % 7 % 3 === 1))
    await t.rejects(routed.threads.list(alice, { limit: 1, cursor: 'forged' }), { code: 'invalid_request', details: { issues: [{ path: 'cursor' }] } })

    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await routed.threads.list(alice, { limit: 5, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      await routed.threads.remove(alice, seen[0] ?? '')
      for (const agentId of places) await routed.threads.create(alice, { id: `later-${seen.length}-${agentId}`, agentId })
    } while (cursor !== undefined)
    t.strictSame(seen, expected, 'also while threads come and go')
    t.equal(await routed.threads.removeAll(alice), 31 - 1 + 3 * 7)
    t.strictSame((await routed.threads.list(alice, { limit: 50 })).items, [])
  })

  t.test(`an id that two agents want at once on ${provider} is of one storage`, { skip }, async (t) => {
    const stores = await openAll(t, provider)
    const services = [routeOver(stores, byName), routeOver(stores, byName)]
    for (let round = 0; round < 15; round++) {
      const id = `wanted-${round}`
      // What is in memory is known to one service only.
      const wanted = round % 2 === 0 ? places.map((agentId) => ({ agentId, service: services[0] })) : services.flatMap((service) => ['database', 'archive'].map((agentId) => ({ agentId, service })))
      const inTurn = [...wanted.slice(round % wanted.length), ...wanted.slice(0, round % wanted.length)]
      const results = await Promise.allSettled(inTurn.map(({ service, agentId }) => round % 3 === 0 ? begin(service!, id, agentId) : service!.threads.create(alice, { id, agentId }))) // there are two
      const holders = await Promise.all(places.map(async (name) => await stores.storages.get(name)?.threads.get(alice, id) === undefined ? [] : [name]))
      t.equal(holders.flat().length, 1, `${id} is in ${holders.flat().join(' and ')}`)
      t.ok(results.some(({ status }) => status === 'fulfilled'))
      t.equal((await services[0]?.threads.get(alice, id))?.id, id)
      t.equal(await services[0]?.threads.remove(alice, id), true)
    }
    t.strictSame(await stores.database.placements.ofOwner({ tenantId: alice.tenantId, ownerId: alice.userId }), [], 'nothing is left of them')
  })

  t.test(`a thread on ${provider} that could not be made leaves its id free, and one that is removed too`, { skip }, async (t) => {
    const stores = await openAll(t, provider)
    const routed = routeOver(stores, byName)
    await t.rejects(routed.turns.begin(alice, 'refused-1', { contextLimit: 5 }, (view) => {
      const plan = planTurn(view, 'x')
      return { ...plan, createThread: { agentId: 'archive' }, messages: [...plan.messages, ...plan.messages] }
    }), { code: 'conflict' })
    t.strictSame(await stores.database.placements.storages(), [])
    for (const agentId of ['archive', 'memory', 'database', 'archive']) {
      await begin(routed, 'refused-1', agentId)
      t.match(await stores.storages.get(agentId)?.threads.get(alice, 'refused-1'), { agentId })
      t.equal(await routed.threads.remove(alice, 'refused-1'), true)
      t.equal(await routed.threads.remove(alice, 'refused-1'), false)
    }
    t.strictSame(await stores.database.placements.storages(), [])
    await begin(routed, 'refused-1', 'archive')
    t.equal(await routed.threads.removeAll(bob), 0)
    t.equal(await routed.threads.removeAll(alice), 1)
    t.strictSame(await stores.database.placements.storages(), [])
  })

  t.test(`an id on ${provider} whose maker died stays with its storage`, { skip }, async (t) => {
    const stores = await openAll(t, provider)
    const routed = routeOver(stores, byName)
    const owner = { tenantId: alice.tenantId, ownerId: alice.userId }
    await stores.database.placements.claim(owner, 'left-over-1', 'archive')
    t.equal(await routed.threads.get(alice, 'left-over-1'), undefined)
    await t.rejects(begin(routed, 'left-over-1', 'memory'), { code: 'conflict' })
    await t.rejects(routed.threads.create(alice, { id: 'left-over-1', agentId: 'database' }), { code: 'conflict' })
    await begin(routed, 'left-over-1', 'archive')
    t.equal((await routed.threads.get(alice, 'left-over-1'))?.agentId, 'archive')
  })

  t.test(`runs on ${provider} are recovered in every storage, by a service that did not begin them`, { skip }, async (t) => {
    const stores = await openAll(t, provider)
    const [first, second] = [routeOver(stores, byName), routeOver(stores, byName)]
    const begun = [await begin(first, 'running-1', 'database'), await begin(first, 'running-2', 'archive')]
    const running = await second.turns.runningRuns()
    t.strictSame(running.map(({ threadId }) => threadId).sort(), ['running-1', 'running-2'])
    for (const run of running) {
      t.match(await second.turns.messageOfRun(run.id), { status: 'streaming' })
      t.equal(await second.turns.interrupt(run, { parts: [], errorRef: 'r' }), true)
    }
    for (const { runId } of begun) t.match(await second.turns.run(alice, runId), { status: 'interrupted' })
    t.strictSame(await first.turns.runningRuns(), [])
  })

  t.test(`a storage that does not answer holds up none of the others on ${provider}`, { skip }, async (t) => {
    const stores = await openAll(t, provider)
    const routed = routeOver(stores, byName)
    for (const agentId of places) await begin(routed, `running-${agentId}`, agentId)
    const archive = stores.storages.get('archive')
    const down = async () => { throw storageUnavailable('down') }
    const turns = { ...archive?.turns, runningRuns: down, renewLeases: down }
    const broken = routeOver({ ...stores, storages: new Map([...stores.storages, ['archive', { ...archive, turns, approvals: { ...archive?.approvals, expired: down } } as unknown as Storage]]) }, byName) // the rest is as it was
    t.strictSame((await broken.turns.runningRuns()).map(({ threadId }) => threadId).sort(), ['running-database', 'running-memory'])
    t.strictSame(await broken.approvals.expired(new Date(), 10), [])
    const until = new Date(inOneMinute().getTime() + 60_000)
    await t.rejects(broken.turns.renewLeases(holder, until), { code: 'storage_unavailable' })
    t.strictSame((await broken.turns.runningRuns()).map(({ leaseUntil }) => leaseUntil), [until, until])
  })
}

t.test('a thread whose storage is there no more is a fault of the configuration, and its id stays taken', async (t) => {
  const stores = await openAll(t, 'sqlite')
  await takeTurn(routeOver(stores, () => 'archive'), alice, 'archived-1', 'q', 'a')
  const routed = routeOver({ ...stores, storages: new Map([['database', stores.database]]) }, () => 'database')
  await t.rejects(routed.threads.get(alice, 'archived-1'), { code: 'configuration_error', message: /"archive"/ })
  await t.rejects(startTurn(routed, alice, 'archived-1', 'q'), { code: 'configuration_error' })
  t.strictSame((await routed.threads.list(alice, { limit: 5 })).items, [])
  t.equal((await routeOver(stores, () => 'archive').threads.get(alice, 'archived-1'))?.messageCount, 2)
})

async function pagesOf ({ threads }: Routed, query: Parameters<Routed['threads']['list']>[1]): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await threads.list(alice, { ...query, cursor })
    t.ok(page.items.length <= query.limit)
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return seen
}

/** Activity is told apart by the millisecond. */
async function aMoment (): Promise<void> {
  const now = Date.now()
  while (Date.now() === now) await new Promise((resolve) => { setTimeout(resolve, 1) })
}
