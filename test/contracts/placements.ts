import type { Test } from 'tap'
import type { Owner, Placements } from '../../src/storage/placements.ts'

const ada: Owner = { tenantId: 'north', ownerId: 'ada' }
const others: readonly Owner[] = [{ tenantId: 'north', ownerId: 'bob' }, { tenantId: 'south', ownerId: 'ada' }]

/** What every implementation of Placements does. */
export function placementsContract (t: Test, open: (t: Test) => Promise<Placements>): void {
  t.test('an id is taken once for each owner, by one storage, and given back by who took it last', async (t) => {
    const placements = await open(t)
    t.equal(await placements.find(ada, 'thread-1'), undefined)
    const first = await placements.claim(ada, 'thread-1', 'archive')
    t.equal(first.storage, 'archive')
    t.match(await placements.find(ada, 'thread-1'), first)
    t.match(await placements.claim(ada, 'thread-1', 'attic'), first, 'what holds it')
    for (const other of others) t.equal((await placements.claim(other, 'thread-1', 'attic')).storage, 'attic')

    const second = await placements.claim(ada, 'thread-1', 'archive')
    t.not(second.claim, first.claim)
    await placements.release(ada, 'thread-1', first.claim)
    t.match(await placements.find(ada, 'thread-1'), second, 'it was taken again')
    await placements.release(others[0]!, 'thread-1', second.claim) // there are two
    t.match(await placements.find(ada, 'thread-1'), second, 'it is not theirs')
    await placements.release(ada, 'thread-1', second.claim)
    t.equal(await placements.find(ada, 'thread-1'), undefined)
    t.equal((await placements.claim(ada, 'thread-1', 'attic')).storage, 'attic')
  })

  t.test('of many that want an id at once one gets it, and all others hear whose it is', async (t) => {
    const placements = await open(t)
    const claims = await Promise.all(Array.from({ length: 12 }, (_, index) => placements.claim(ada, 'wanted-1', `storage-${index % 4}`)))
    const held = await placements.find(ada, 'wanted-1')
    t.strictSame(new Set(claims.map(({ storage }) => storage)), new Set([held?.storage]))
  })

  t.test('runs and approvals are where their thread is, and go with it', async (t) => {
    const placements = await open(t)
    const { claim } = await placements.claim(ada, 'thread-1', 'archive')
    await placements.addItems(ada, 'thread-1', ['run-1', 'approval-1'])
    await placements.addItems(ada, 'thread-1', ['run-2', 'run-1'])
    await placements.addItems(ada, 'no-thread', ['run-3'])
    const found = async () => await Promise.all(['run-1', 'approval-1', 'run-2', 'run-3'].map((id) => placements.storageOfItem(id)))
    t.strictSame(await found(), ['archive', 'archive', 'archive', undefined])
    const again = await placements.claim(ada, 'thread-1', 'archive')
    await placements.release(ada, 'thread-1', claim)
    t.strictSame(await found(), ['archive', 'archive', 'archive', undefined])
    await placements.release(ada, 'thread-1', again.claim)
    t.strictSame(await found(), [undefined, undefined, undefined, undefined])
  })

  t.test('they are listed by owner, by tenant and thread, and by storage', async (t) => {
    const placements = await open(t)
    t.strictSame(await placements.storages(), [])
    const placed = [await placements.claim(ada, 'thread-1', 'archive'), await placements.claim(ada, 'thread-2', 'attic')]
    await placements.claim(others[0]!, 'thread-1', 'attic') // there are two
    await placements.claim(others[1]!, 'thread-1', 'cellar')
    const ofAda = [...await placements.ofOwner(ada)].sort((a, b) => a.threadId < b.threadId ? -1 : 1)
    t.match(ofAda, placed.map(({ storage, claim }, index) => ({ threadId: `thread-${index + 1}`, storage, claim })))
    t.equal(ofAda.length, 2)
    t.strictSame([...await placements.storagesOf('north', 'thread-1')].sort(), ['archive', 'attic'])
    t.strictSame(await placements.storagesOf('south', 'thread-1'), ['cellar'])
    t.strictSame([...await placements.storages()].sort(), ['archive', 'attic', 'cellar'])
  })
}
