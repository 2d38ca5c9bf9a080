import t, { type Test } from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { getJson, post, startApp } from '../../helpers/app.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

t.test('a thread is made with what it was given, once', async (t) => {
  const { url } = await start(t)
  const given = { id: 'my-thread-1', agentId: 'other', title: '  A title  ', metadata: { team: 'ünï', n: [1, { a: null }] } }
  const { status, json } = await send(url, 'POST', '/v1/threads', { body: { ...given, unknown: 'ignored' } })
  t.equal(status, 201)
  const { createdAt, updatedAt, ...thread } = json
  t.strictSame(thread, { id: 'my-thread-1', ownerId: 'anonymous', agentId: agentId('other'), title: 'A title', metadata: given.metadata, archived: false, headId: null, messageCount: 0, lastMessageAt: null })
  t.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal(createdAt, updatedAt)
  t.strictSame(await getJson(`${url}/v1/threads/my-thread-1`), json)
  refused(t, await send(url, 'POST', '/v1/threads', { body: { id: 'my-thread-1' } }), { status: 409, code: 'conflict' }, 'the same id again')
})

t.test('a thread made of nothing has an id of ours and the default agent', async (t) => {
  const { url } = await start(t)
  const { status, json } = await send(url, 'POST', '/v1/threads', { body: {} })
  t.equal(status, 201)
  t.match(json, { id: /^[A-Za-z0-9_-]{8,64}$/, agentId: agentId('tester'), title: null, metadata: {} })
})

t.test('threads are listed by their newest activity, page by page, whatever is added meanwhile', async (t) => {
  const { url } = await start(t)
  for (let n = 0; n < 7; n++) await post(`${url}/v1/threads`, { id: `thread-${n}` })
  await post(`${url}/v1/threads/thread-2/messages`, { text: 'Hello' })
  const first = await getJson(`${url}/v1/threads?limit=3`)
  t.strictSame(ids(first), ['thread-2', 'thread-6', 'thread-5'])
  t.match(first.items[0], { messageCount: 2, lastMessageAt: String, headId: String })
  await post(`${url}/v1/threads`, { id: 'thread-new' })
  await send(url, 'DELETE', '/v1/threads/thread-5')
  const second = await getJson(`${url}/v1/threads?limit=3&cursor=${first.nextCursor}`)
  t.strictSame(ids(second), ['thread-4', 'thread-3', 'thread-1'])
  const third = await getJson(`${url}/v1/threads?limit=3&cursor=${second.nextCursor}`)
  t.strictSame(third, { items: third.items, nextCursor: null })
  t.strictSame(ids(third), ['thread-0'])
})

t.test('threads are found by agent', async (t) => {
  const { url } = await start(t)
  for (const [id, agent] of [['thread-1', 'tester'], ['thread-2', 'other']]) await post(`${url}/v1/threads`, { id, agentId: agent })
  t.strictSame(ids(await getJson(`${url}/v1/threads?agentId=other`)), ['thread-2'])
  t.strictSame(ids(await getJson(`${url}/v1/threads?agentId=${agentId('other')}`)), ['thread-2'])
  t.strictSame(ids(await getJson(`${url}/v1/threads?agentId=nobody`)), [])
})

t.test('threads are found by words of titles and messages, in any case and spelling, and nothing in a question is a wildcard', async (t) => {
  const { url } = await start(t)
  const titled = { 'thread-umlaut': 'Über ÄPFEL', 'thread-greek': 'ΟΔΟΣ', 'thread-turkic': 'İstanbul', 'thread-percent': '100% sure_thing', 'thread-quote': "O'Brien; DROP TABLE", 'thread-emoji': 'Party 🎉 time', 'thread-cyrillic': 'ПРИВЕТ мир', 'thread-back': 'C:\\temp' }
  for (const [id, title] of Object.entries(titled)) await post(`${url}/v1/threads`, { id, title, metadata: { metakey: 'metavalue' } })
  await post(`${url}/v1/threads/thread-message/messages`, { text: 'Die GRÖSSE zählt' })
  const found: ReadonlyArray<readonly [q: string, ids: readonly string[]]> = [
    ['äpfel', ['thread-umlaut']], ['ÜBER', ['thread-umlaut']], ['a\u0308pfel', ['thread-umlaut']],
    ['οδος', ['thread-greek']], ['οδοσ', ['thread-greek']], ['привет', ['thread-cyrillic']], ['МИР', ['thread-cyrillic']], ['istanbul', []], ['İSTANBUL', ['thread-turkic']],
    ['%', ['thread-percent']], ['100%', ['thread-percent']], ['_', ['thread-percent']], ['sure_', ['thread-percent']], ['1%0', []], ['s_re', []],
    ["o'brien", ['thread-quote']], ['🎉', ['thread-emoji']], ['\\', ['thread-back']], ['größe', []], ['grösse ZÄHLT', ['thread-message']],
    ['the model says', ['thread-message']],
    ['metavalue', []], ['metakey', []], ['"type"', []], ['text', []], ['parts', []], ['step-start', []]
  ]
  for (const [q, wanted] of found) t.strictSame(ids(await getJson(`${url}/v1/threads?q=${encodeURIComponent(q)}`)), wanted, q)
  t.strictSame(ids(await getJson(`${url}/v1/threads?q=${encodeURIComponent('  äpfel ')}`)), ['thread-umlaut'], 'around which blanks do not matter')
})

t.test('what was deleted is not found', async (t) => {
  const { url } = await start(t)
  await post(`${url}/v1/threads/thread-one/messages`, { message: { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'needle' }] } })
  t.equal((await getJson(`${url}/v1/threads?q=needle`)).items.length, 1)
  await send(url, 'DELETE', '/v1/threads/thread-one/messages/m-1')
  t.equal((await getJson(`${url}/v1/threads?q=needle`)).items.length, 0)
})

t.test('a thread is changed field by field, and the rest stays', async (t) => {
  const { url } = await start(t)
  const { json: made } = await send(url, 'POST', '/v1/threads', { body: { id: 'thread-one', title: 'Old', metadata: { a: 1 } } })
  const patch = async (body: object) => await send(url, 'PATCH', '/v1/threads/thread-one', { body })
  t.match((await patch({ title: 'New' })).json, { ...made, title: 'New', updatedAt: String })
  t.match((await patch({ metadata: { b: 2 } })).json, { title: 'New', metadata: { b: 2 } })
  t.strictSame((await patch({})).json.metadata, { b: 2 }, 'metadata is replaced, not merged')
  t.equal((await patch({ title: null })).json.title, null)
  t.equal((await patch({ agentId: 'other' })).json.agentId, agentId('other'))
  t.equal((await patch({ archived: true })).json.archived, true)
  t.strictSame(ids(await getJson(`${url}/v1/threads`)), [])
  t.strictSame(ids(await getJson(`${url}/v1/threads?archived=true`)), ['thread-one'])
  t.equal((await patch({ archived: false })).json.archived, false)
  t.strictSame(ids(await getJson(`${url}/v1/threads?archived=false`)), ['thread-one'])
  t.strictSame(await getJson(`${url}/v1/threads/thread-one`), (await getJson(`${url}/v1/threads`)).items[0])
})

t.test('another branch is shown by naming its head', async (t) => {
  const { url } = await start(t, [['first answer'], ['second answer']])
  const messages = `${url}/v1/threads/thread-one/messages`
  await post(messages, { text: 'Question' })
  const old = (await getJson(messages)).items[1]
  await post(messages, { trigger: 'regenerate-message' })
  t.not((await getJson(messages)).items[1].id, old.id)
  t.equal((await send(url, 'PATCH', '/v1/threads/thread-one', { body: { headId: old.id } })).json.headId, old.id)
  t.strictSame((await getJson(messages)).items[1].parts, old.parts)
})

t.test('a thread is deleted once, and all of them together', async (t) => {
  const { url } = await start(t)
  for (let n = 0; n < 3; n++) await post(`${url}/v1/threads/thread-${n}/messages`, { text: 'Hello' })
  const { status, text } = await send(url, 'DELETE', '/v1/threads/thread-0')
  t.strictSame([status, text], [204, ''])
  refused(t, await send(url, 'DELETE', '/v1/threads/thread-0'), { status: 404, code: 'not_found' }, 'again')
  t.strictSame((await send(url, 'DELETE', '/v1/threads')).json, { deleted: 2 })
  t.strictSame((await send(url, 'DELETE', '/v1/threads')).json, { deleted: 0 })
  t.strictSame(await getJson(`${url}/v1/threads`), { items: [], nextCursor: null })
  t.equal((await send(url, 'POST', '/v1/threads', { body: { id: 'thread-0' } })).status, 201, 'and its id is free')
})

t.test('usage is what the model calls of a thread took together', async (t) => {
  const { url } = await start(t)
  for (const text of ['one', 'two']) await post(`${url}/v1/threads/thread-one/messages`, { text })
  t.strictSame(await getJson(`${url}/v1/threads/thread-one/usage`), {
    items: [{ model: 'test:scripted', agentPath: '', calls: 2, usage: { input: 20, output: 10, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, estimated: false }]
  })
  await post(`${url}/v1/threads`, { id: 'thread-two' })
  t.strictSame(await getJson(`${url}/v1/threads/thread-two/usage`), { items: [] })
})

t.test('what the model calls of a thread cost is told where prices are known', async (t) => {
  const { url } = await startApp(t, { model: { ...scriptedModel([['Hi']]), prices: { input: 1, output: 10 } } })
  for (const text of ['one', 'two']) await post(`${url}/v1/threads/thread-one/messages`, { text })
  t.match(await getJson(`${url}/v1/threads/thread-one/usage`), { items: [{ calls: 2, costUsd: 0.00012 }] })
})

async function start (t: Test, script: Parameters<typeof scriptedModel>[0] = [['The model says something']]) {
  return await startApp(t, { model: scriptedModel(script), agents: [{ key: 'tester' }, { key: 'other' }] })
}

function ids ({ items }: { items: ReadonlyArray<{ id: string }> }): string[] {
  return items.map(({ id }) => id)
}

t.test('a title that its model broke off counts among what the thread took', async (t) => {
  const model = scriptedModel([['Hello', { waitMs: 150 }, ' there'], ['Half a', { throw: new Error('cut') }]])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', titleGeneration: true }] })
  await post(`${url}/v1/threads/titled-thread/messages`, { text: 'Hi' })
  t.equal(model.requests.length, 2)
  const { items } = await getJson(`${url}/v1/threads/titled-thread/usage`)
  t.match(items, [{ calls: 2 }])
  t.equal((await getJson(`${url}/v1/threads/titled-thread`)).title, null)
})
