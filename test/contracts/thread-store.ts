import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Principal } from '../../src/auth/principal.ts'
import type { ThreadStores } from '../../src/storage/storage.ts'
import type { ThreadPlace, ThreadQuery } from '../../src/threads/thread-store.ts'
import { alice, answer, bob, endOf, holder, otherAlice, startTurn, takeTurn, text, userMessage } from './turns.ts'

export type OpenStores = (t: Test) => Promise<ThreadStores>

/** What every implementation of ThreadStore does. */
export function threadStoreContract (t: Test, open: OpenStores): void {
  t.test('a thread is stored, shown, changed and removed for its owner', async (t) => {
    const { threads } = await open(t)
    const created = await threads.create(alice, { id: 'thread-one', agentId: 'agent-1', title: 'First', metadata: { b: 1, a: [null, 'x\0'] } })
    t.match(created, { id: 'thread-one', agentId: 'agent-1', title: 'First', archived: false, messageCount: 0, headId: undefined, lastMessageAt: undefined })
    t.strictSame(await threads.get(alice, 'thread-one'), created)
    t.equal(JSON.stringify(created.metadata), '{"b":1,"a":[null,"x\\u0000"]}', 'metadata keeps its order and its NUL')
    t.match(await threads.update(alice, 'thread-one', { title: null, archived: true, agentId: 'agent-2', metadata: {} }), { title: undefined, archived: true, agentId: 'agent-2', metadata: {} })
    t.equal(await threads.remove(alice, 'thread-one'), true)
    t.equal(await threads.remove(alice, 'thread-one'), false)
    t.equal(await threads.get(alice, 'thread-one'), undefined)
  })

  t.test('an id is taken once per owner, and free for every other', async (t) => {
    const { threads } = await open(t)
    await threads.create(alice, { id: 'same-id-1', agentId: 'agent-1' })
    await t.rejects(threads.create(alice, { id: 'same-id-1', agentId: 'agent-1' }), { code: 'conflict' })
    await threads.create(bob, { id: 'same-id-1', agentId: 'agent-b' })
    await threads.create(otherAlice, { id: 'same-id-1', agentId: 'agent-o' })
    t.equal((await threads.get(alice, 'same-id-1'))?.agentId, 'agent-1')
    t.equal((await threads.get(otherAlice, 'same-id-1'))?.agentId, 'agent-o')
  })

  t.test('what is not the principal’s is answered as if it did not exist, and stays as it is', async (t) => {
    const database = await open(t)
    const { threads } = database
    const turn = await takeTurn(database, alice, 'private-1', 'secret', 'answer')
    const before = await threads.history(alice, 'private-1', { limit: 10 })
    for (const stranger of [bob, otherAlice]) {
      t.equal(await threads.get(stranger, 'private-1'), undefined)
      t.equal(await threads.update(stranger, 'private-1', { title: 'mine' }), undefined)
      t.equal(await threads.remove(stranger, 'private-1'), false)
      t.equal(await threads.removeAll(stranger), 0)
      t.equal(await threads.history(stranger, 'private-1', { limit: 10 }), undefined)
      t.equal(await threads.siblings(stranger, 'private-1', turn.answerId, { limit: 10 }), undefined)
      t.equal(await threads.removeMessage(stranger, 'private-1', turn.answerId), false)
      t.equal(await threads.restoreMessage(stranger, 'private-1', turn.answerId), undefined)
      t.equal(await threads.rate(stranger, 'private-1', turn.answerId, { rating: 1 }), false)
      t.equal(await threads.unrate(stranger, 'private-1', turn.answerId), false)
      t.equal(await threads.usage(stranger, 'private-1'), undefined)
      t.strictSame((await threads.list(stranger, { limit: 10 })).items, [])
      t.strictSame((await threads.list(stranger, { limit: 10, q: 'secret' })).items, [])
    }
    t.strictSame(await threads.history(alice, 'private-1', { limit: 10 }), before)
  })

  t.test('whom permissions let sees the threads of everybody in the tenant, and of nobody else', async (t) => {
    const database = await open(t)
    const { threads } = database
    const turn = await takeTurn(database, alice, 'shared-id', 'hers', 'answer')
    await threads.create(bob, { id: 'shared-id', agentId: 'agent-b' })
    await takeTurn(database, otherAlice, 'shared-id', 'of elsewhere', 'answer')
    const owners = async (place: ThreadPlace, of: 'own' | 'all', principal = bob) => (await threads.locate(principal, place, of)).map(({ ownerId, agentId }) => `${ownerId} ${agentId}`)
    t.strictSame(await owners({ threadId: 'shared-id' }, 'all'), ['bob agent-b', 'alice agent-1'], 'their own first')
    t.strictSame(await owners({ threadId: 'shared-id' }, 'all', alice), ['alice agent-1', 'bob agent-b'])
    t.strictSame(await owners({ threadId: 'shared-id' }, 'own'), ['bob agent-b'])
    t.strictSame(await owners({ runId: turn.runId }, 'all'), ['alice agent-1'])
    for (const place of [{ runId: turn.runId }, { approvalId: 'none' }]) t.strictSame(await owners(place, 'own'), [])
    t.strictSame(await owners({ runId: turn.runId }, 'all', otherAlice), [], 'tenants stay apart')

    const listed = async (query: Partial<ThreadQuery>) => (await threads.list(bob, { limit: 10, ...query })).items.map(({ ownerId }) => ownerId)
    t.strictSame(await listed({}), ['bob'])
    t.strictSame((await listed({ of: 'all' })).sort(), ['alice', 'bob'])
    t.strictSame(await listed({ of: 'all', q: 'hers' }), ['alice'])
    t.strictSame(await listed({ of: 'all', q: 'elsewhere' }), [])
    const first = await threads.list(bob, { limit: 1, of: 'all' })
    const second = await threads.list(bob, { limit: 1, of: 'all', cursor: first.nextCursor })
    t.strictSame([...first.items, ...second.items].map(({ ownerId }) => ownerId).sort(), ['alice', 'bob'], 'page by page')

    const asking = { ...bob, ownerId: 'alice' }
    t.equal(await threads.rate(asking, 'shared-id', turn.answerId, { rating: -1 }), true)
    const ratings = async (principal: Principal) => (await threads.history(principal, 'shared-id', { limit: 10 }))?.items.map(({ rating }) => rating?.rating)
    t.strictSame(await ratings(asking), [undefined, -1], 'a rating is of whoever rates')
    t.strictSame(await ratings(alice), [undefined, undefined])
    t.equal((await database.turns.run(asking, turn.runId))?.id, turn.runId)
    t.equal(await threads.removeAll(asking), 1, 'all that are their own')
    t.equal((await threads.get(alice, 'shared-id'))?.id, 'shared-id')
    await t.rejects(startTurn(database, { ...bob, ownerId: 'carl' }, 'shared-id', 'hello'), { code: 'not_found' }, 'nobody makes a thread for another')
  })

  t.test('threads of one instant are paged without repeats or gaps, also while threads come and go', async (t) => {
    const { threads } = await open(t)
    const ids = Array.from({ length: 30 }, (_, index) => `thread-${index}`)
    await Promise.all(ids.map((id) => threads.create(alice, { id, agentId: 'agent-1' })))
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await threads.list(alice, { limit: 10, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      await threads.remove(alice, seen[0] ?? '')
      await threads.create(alice, { id: `later-${seen.length}`, agentId: 'agent-1' })
    } while (cursor !== undefined)
    t.strictSame([...seen].sort(), [...ids].sort())
  })

  t.test('lists show the newest activity first, of the agent and the archive asked for', async (t) => {
    const database = await open(t)
    const { threads } = database
    for (const [id, agentId] of [['thread-a', 'one'], ['thread-b', 'two'], ['thread-c', 'one']] as const) {
      await threads.create(alice, { id, agentId })
      await afterAMillisecond()
    }
    await takeTurn(database, alice, 'thread-a', 'hello', 'hi')
    await threads.update(alice, 'thread-b', { archived: true })
    const list = async (query: { agentId?: string, archived?: boolean }) => (await threads.list(alice, { limit: 10, ...query })).items.map(({ id }) => id)
    t.strictSame(await list({}), ['thread-a', 'thread-c', 'thread-b'], 'a change of settings is no activity')
    t.strictSame(await list({ agentId: 'one' }), ['thread-a', 'thread-c'])
    t.strictSame(await list({ archived: true }), ['thread-b'])
    t.strictSame(await list({ archived: false }), ['thread-a', 'thread-c'])
  })

  t.test('search finds titles and undeleted message text in any case, takes wildcards literally and does not see JSON', async (t) => {
    const database = await open(t)
    const { threads } = database
    await threads.create(alice, { id: 'titled-1', agentId: 'agent-1', title: 'Größe ΟΔΟΣ' })
    const turn = await takeTurn(database, alice, 'spoken-1', 'ÜBER 100%_sicher', 'ПРИВЕТ')
    const find = async (q: string) => (await threads.list(alice, { limit: 10, q })).items.map(({ id }) => id)
    t.strictSame(await find('GRÖSSE'.replace('SS', 'ß')), ['titled-1'])
    t.strictSame(await find('οδος'), ['titled-1'])
    t.strictSame(await find('über'), ['spoken-1'])
    t.strictSame(await find('привет'), ['spoken-1'])
    t.strictSame(await find('0%_s'), ['spoken-1'])
    t.strictSame(await find('0%s'), [])
    t.strictSame(await find('"type"'), [])
    t.strictSame(await find("'; DROP TABLE"), [])
    t.equal((await find('')).length, 2)
    await threads.removeMessage(alice, 'spoken-1', turn.answerId)
    t.strictSame(await find('привет'), [])
  })

  t.test('NUL and halves of characters are no obstacle in titles, messages, comments and searches', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const odd = 'a\0b\uD800c'
    const created = await threads.create(alice, { id: 'odd-text-1', agentId: 'agent-1', title: odd })
    t.equal(created.title, 'ab\uFFFDc')
    const turn = await startTurn(database, alice, 'odd-text-1', odd)
    await turns.finish(holder, endOf(turn, odd))
    t.equal(await threads.rate(alice, 'odd-text-1', turn.answerId, { rating: 1, comment: odd }), true)
    const history = await threads.history(alice, 'odd-text-1', { limit: 10 })
    t.strictSame(history?.items.map(({ parts }) => parts), [text(odd), text(odd)], 'what was said is kept to the letter')
    t.equal((await threads.list(alice, { limit: 10, q: 'A\0B' })).items.length, 1)
    await threads.update(alice, 'odd-text-1', { title: 'x\0y' })
    t.equal((await threads.get(alice, 'odd-text-1'))?.title, 'xy')
  })

  t.test('history is paged from the newest, in ascending order, and stays put under new and deleted messages', async (t) => {
    const database = await open(t)
    const { threads } = database
    const turns = []
    for (let count = 1; count <= 4; count++) turns.push(await takeTurn(database, alice, 'paged-1', `q${count}`, `a${count}`))
    const newest = await threads.history(alice, 'paged-1', { limit: 3 })
    t.strictSame(textsOf(newest), ['a3', 'q4', 'a4'])
    await takeTurn(database, alice, 'paged-1', 'q5', 'a5')
    await threads.removeMessage(alice, 'paged-1', turns[1]?.answerId ?? '')
    const middle = await threads.history(alice, 'paged-1', { limit: 3, before: newest?.nextCursor })
    t.strictSame(textsOf(middle), ['a1', 'q2', 'q3'], 'the deleted one is not counted')
    const oldest = await threads.history(alice, 'paged-1', { limit: 3, before: middle?.nextCursor })
    t.strictSame(textsOf(oldest), ['q1'])
    t.equal(oldest?.nextCursor, undefined)
  })

  t.test('a cursor that is not of the list is invalid_request and names its field', async (t) => {
    const database = await open(t)
    const { threads } = database
    const turn = await takeTurn(database, alice, 'cursors-1', 'q', 'a')
    const foreign = Buffer.from('["no-such-message"]').toString('base64url')
    for (const bad of ['', '%%%', 'bm90IGpzb24', Buffer.from('{"a":1}').toString('base64url'), foreign]) {
      await t.rejects(threads.history(alice, 'cursors-1', { limit: 2, before: bad }), { code: 'invalid_request', details: { issues: [{ path: 'before' }] } })
      await t.rejects(threads.list(alice, { limit: 2, cursor: bad }), { code: 'invalid_request', details: { issues: [{ path: 'cursor' }] } })
      await t.rejects(threads.siblings(alice, 'cursors-1', turn.answerId, { limit: 2, cursor: bad }), { code: 'invalid_request', details: { issues: [{ path: 'cursor' }] } })
    }
  })

  t.test('a running answer is left out of history unless asked for', async (t) => {
    const database = await open(t)
    await takeTurn(database, alice, 'running-1', 'q1', 'a1')
    await startTurn(database, alice, 'running-1', 'q2')
    t.strictSame(textsOf(await database.threads.history(alice, 'running-1', { limit: 2 })), ['a1', 'q2'])
    const all = await database.threads.history(alice, 'running-1', { limit: 2, includeStreaming: true })
    t.match(all?.items, [{ role: 'user' }, { status: 'streaming', parts: [] }])
  })

  t.test('branches at a message are counted, listed in order of creation and shown by moving the head', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const first = await takeTurn(database, alice, 'branched-1', 'q', 'a1')
    const others = [answer(first.userId, { status: 'completed', parts: text('a2') }), answer(first.userId, { status: 'completed', parts: text('a3') })]
    await turns.begin(alice, 'branched-1', { contextLimit: 10 }, () => ({ messages: others, result: undefined }))
    t.match((await threads.history(alice, 'branched-1', { limit: 10 }))?.items, [{ siblings: 1 }, { siblings: 3, parts: text('a3') }])
    const page = await threads.siblings(alice, 'branched-1', first.answerId, { limit: 2 })
    t.strictSame(textsOf(page), ['a1', 'a2'])
    t.strictSame(textsOf(await threads.siblings(alice, 'branched-1', first.answerId, { limit: 2, cursor: page?.nextCursor })), ['a3'])
    t.strictSame(textsOf(await threads.siblings(alice, 'branched-1', first.userId, { limit: 2 })), ['q'])
    t.equal(await threads.siblings(alice, 'branched-1', 'no-such-message', { limit: 2 }), undefined)
    t.equal((await threads.update(alice, 'branched-1', { headId: first.answerId }))?.headId, first.answerId)
    t.strictSame(textsOf(await threads.history(alice, 'branched-1', { limit: 10 })), ['q', 'a1'])
    await threads.removeMessage(alice, 'branched-1', others[0]?.id ?? '')
    await t.rejects(threads.update(alice, 'branched-1', { headId: others[0]?.id }), { code: 'not_found' })
    await t.rejects(threads.update(alice, 'branched-1', { headId: 'no-such-message' }), { code: 'not_found' })
    t.equal((await threads.history(alice, 'branched-1', { limit: 10 }))?.items[1]?.siblings, 2)
  })

  t.test('a deleted message is out of history and count, its children stay, and it can be restored', async (t) => {
    const database = await open(t)
    const { threads } = database
    const first = await takeTurn(database, alice, 'deleting-1', 'q1', 'a1')
    await takeTurn(database, alice, 'deleting-1', 'q2', 'a2')
    t.equal(await threads.removeMessage(alice, 'deleting-1', first.answerId), true)
    t.equal(await threads.removeMessage(alice, 'deleting-1', first.answerId), true, 'idempotent')
    t.equal((await threads.get(alice, 'deleting-1'))?.messageCount, 3)
    t.strictSame(textsOf(await threads.history(alice, 'deleting-1', { limit: 10 })), ['q1', 'q2', 'a2'])
    t.match(await threads.restoreMessage(alice, 'deleting-1', first.answerId), { id: first.answerId, deletedAt: undefined, parts: text('a1') })
    t.match(await threads.restoreMessage(alice, 'deleting-1', first.answerId), { id: first.answerId })
    t.equal((await threads.get(alice, 'deleting-1'))?.messageCount, 4)
    t.equal(await threads.removeMessage(alice, 'deleting-1', 'no-such-message'), false)
    t.equal(await threads.restoreMessage(alice, 'deleting-1', 'no-such-message'), undefined)
  })

  t.test('ten ratings of one answer at once leave one, and the last one wins', async (t) => {
    const database = await open(t)
    const { threads } = database
    const turn = await takeTurn(database, alice, 'rated-1', 'q', 'a')
    const ratings = Array.from({ length: 10 }, () => threads.rate(alice, 'rated-1', turn.answerId, { rating: -1, comment: 'no' }))
    t.strictSame(await Promise.all(ratings), Array(10).fill(true))
    await threads.rate(alice, 'rated-1', turn.answerId, { rating: 1 })
    const shown = async () => (await threads.history(alice, 'rated-1', { limit: 10 }))?.items.map(({ rating }) => rating)
    t.strictSame(await shown(), [undefined, { rating: 1 }])
    t.equal(await threads.unrate(alice, 'rated-1', turn.answerId), true)
    t.strictSame(await shown(), [undefined, undefined])
    t.equal(await threads.rate(alice, 'rated-1', turn.userId, { rating: 1 }), false, 'a question is not rated')
    t.equal(await threads.rate(alice, 'rated-1', 'no-such-message', { rating: 1 }), false)
  })

  t.test('a thread with branches, ratings, usage and a running turn is removed with all that hangs on it', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const first = await takeTurn(database, alice, 'removed-1', 'q', 'a')
    await threads.rate(alice, 'removed-1', first.answerId, { rating: 1 })
    const running = await startTurn(database, alice, 'removed-1', 'q2')
    t.equal(await threads.remove(alice, 'removed-1'), true)
    t.equal(await threads.remove(alice, 'removed-1'), false)
    t.equal(await turns.run(alice, running.runId), undefined)
    t.strictSame(await turns.runningRuns(), [])
    await takeTurn(database, alice, 'removed-1', 'again', 'new')
    t.strictSame(textsOf(await threads.history(alice, 'removed-1', { limit: 10 })), ['again', 'new'])
    t.match((await threads.history(alice, 'removed-1', { limit: 10 }))?.items[1], { rating: undefined })
  })

  t.test('all threads of an owner are removed and counted, and nobody else’s', async (t) => {
    const { threads } = await open(t)
    for (const id of ['thread-a', 'thread-b']) await threads.create(alice, { id, agentId: 'agent-1' })
    await threads.create(bob, { id: 'thread-c', agentId: 'agent-1' })
    t.equal(await threads.removeAll(alice), 2)
    t.equal((await threads.list(bob, { limit: 10 })).items.length, 1)
  })

  t.test('usage is summed per agent path and model, cost only where all of it is known', async (t) => {
    const database = await open(t)
    const { threads, turns } = database
    const usage = { input: 10, output: 5, reasoning: 2, cachedRead: 3, cacheWrite: 1 }
    const records = [
      { agentPath: 'root', model: 'p:m', usage, costUsd: 0.5, estimated: false },
      { agentPath: 'root', model: 'p:m', usage, costUsd: undefined, estimated: true },
      { agentPath: 'root/helper', model: 'p:m', usage, costUsd: 0.5, estimated: false },
      { agentPath: 'root/helper', model: 'p:m', usage, costUsd: 0.25, estimated: false }
    ]
    const turn = await startTurn(database, alice, 'counted-1', 'q')
    t.strictSame(await threads.usage(alice, 'counted-1'), [])
    await turns.finish(holder, endOf(turn, 'a', { usageRecords: records }))
    t.strictSame(await threads.usage(alice, 'counted-1'), [
      { agentPath: 'root', model: 'p:m', calls: 2, usage: { input: 20, output: 10, reasoning: 4, cachedRead: 6, cacheWrite: 2 }, costUsd: undefined, estimated: true },
      { agentPath: 'root/helper', model: 'p:m', calls: 2, usage: { input: 20, output: 10, reasoning: 4, cachedRead: 6, cacheWrite: 2 }, costUsd: 0.75, estimated: false }
    ])
  })

  t.test('a page of a thread of 10,000 messages costs what a page of a short one costs', { timeout: 60_000 }, async (t) => {
    const database = await open(t)
    await fill(database, 'short-thread', 50)
    await fill(database, 'long-thread', 10_000)
    const page = (threadId: string) => database.threads.history(alice, threadId, { limit: 20 })
    t.strictSame(textsOf(await page('long-thread')), Array.from({ length: 20 }, (_, index) => `m${9_981 + index}`))
    const [short = 0, long = 0] = await fastestOf([() => page('short-thread'), () => page('long-thread')])
    // Walking it all would take 100 times as long; the fastest of many is steady enough to tell that.
    t.ok(long < short * 1.5 + 1, `short ${short.toFixed(2)} ms, long ${long.toFixed(2)} ms`)
  })
}

function textsOf (page: { readonly items: readonly { readonly parts: readonly object[] }[] } | undefined): string[] | undefined {
  return page?.items.map(({ parts }) => parts.map((part) => 'text' in part ? String(part.text) : '').join(''))
}

async function fill (database: ThreadStores, threadId: string, count: number): Promise<void> {
  let parentId: string | undefined
  for (let start = 1; start <= count; start += 500) {
    const messages = Array.from({ length: Math.min(500, count - start + 1) }, (_, index) => {
      const message = userMessage(`m${start + index}`, { id: randomUUID(), parentId })
      parentId = message.id
      return message
    })
    await database.turns.begin(alice, threadId, { contextLimit: 1 }, ({ thread }) => ({ createThread: thread === undefined ? { agentId: 'agent-1' } : undefined, messages, result: undefined }))
  }
}

/** In turns, so that what else the machine does falls on all alike. */
async function fastestOf (works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const best = works.map(() => Infinity)
  for (let count = 0; count < 60; count++) {
    for (const [index, work] of works.entries()) {
      const start = performance.now()
      await work()
      best[index] = Math.min(best[index] ?? Infinity, performance.now() - start)
    }
  }
  return best
}

function afterAMillisecond (): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, 2) })
}
