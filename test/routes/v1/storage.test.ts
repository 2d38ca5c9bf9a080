import t from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { allowAll } from '../../../src/auth/shipped-permissions.ts'
import { defineStorage } from '../../../src/storage/define-storage.ts'
import { kitWith } from '../../helpers/agents.ts'
import { getJson, post, startApp, textIn, until, userMessage, type TestApp } from '../../helpers/app.ts'
import { testDatabaseUrl } from '../../helpers/databases.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

const places = ['kept', 'brief', 'archived'] as const

/** One agent for each storage; `archive` and the database may be those of an earlier service. */
async function start (t: Parameters<typeof startApp>[0], { archive, databaseUrl }: { archive?: string, databaseUrl?: string } = {}): Promise<TestApp & { readonly archive: string, readonly model: ReturnType<typeof scriptedModel> }> {
  const archiveUrl = archive ?? await testDatabaseUrl(t, 'sqlite')
  const storage = defineStorage({ name: 'archive', open: ({ openDatabase }) => openDatabase(archiveUrl) })
  const agents = [{ key: 'kept' }, { key: 'brief', storage: 'memory' as const, memory: 'database' as const }, { key: 'archived', storage, memory: 'database' as const }, { key: 'told', storage: 'none' as const }]
  const model = scriptedModel([['Hello']])
  return { ...await startApp(t, { model, agents, ...(databaseUrl === undefined ? {} : { databaseUrl }) }), model, archive: archiveUrl }
}

t.test('threads of all storages are one list, newest activity first, page by page', async (t) => {
  const { url } = await start(t)
  const ids: string[] = []
  for (let index = 0; index < 12; index++) {
    const key = places[index % 3] ?? ''
    const id = `${key}-thread-${index}`
    ids.unshift(id)
    if (index % 2 === 0) await post(`${url}/v1/threads/${id}/messages`, { text: `Hi ${index}`, agentId: key })
    else t.equal((await send(url, 'POST', '/v1/threads', { body: { id, agentId: key, title: 'Made before' } })).status, 201)
    await new Promise((resolve) => { setTimeout(resolve, 2) })
  }
  const list = async (query: string) => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: { items: Array<{ id: string }>, nextCursor: string | null } = await getJson(`${url}/v1/threads?${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== null)
    return seen
  }
  for (const limit of [1, 5, 12, 100]) t.strictSame(await list(`limit=${limit}`), ids)
  t.strictSame(await list('limit=2&q=made'), ids.filter((_, index) => index % 2 === 0))
  t.strictSame(await list('limit=2&agentId=brief'), ids.filter((id) => id.startsWith('brief')))
  t.equal((await send(url, 'PATCH', '/v1/threads/brief-thread-1', { body: { archived: true, title: 'Away' } })).status, 200)
  t.strictSame(await list('archived=true'), ['brief-thread-1'])
  refused(t, await send(url, 'GET', '/v1/threads?cursor=WzFd'), { status: 400, code: 'invalid_request', path: 'cursor' }, 'a cursor of no list')

  t.match(await getJson(`${url}/v1/threads/archived-thread-2/usage`), { items: [{ calls: 1 }] })
  t.match((await send(url, 'DELETE', '/v1/threads')).json, { deleted: 12 })
  t.strictSame(await list('limit=5'), [])
  for (const id of ids) refused(t, await send(url, 'GET', `/v1/threads/${id}`), { status: 404, code: 'not_found' }, id)
})

t.test('a thread stays in its storage: another agent is taken where it keeps threads there too', async (t) => {
  const { url, database } = await start(t)
  for (const key of places) await post(`${url}/v1/threads/${key}-thread/messages`, { text: 'Hi', agentId: key })
  for (const key of places) {
    for (const other of [...places, 'told'].filter((name) => name !== key)) {
      refused(t, await send(url, 'PATCH', `/v1/threads/${key}-thread`, { body: { agentId: other, title: 'Moved' } }), { status: 409, code: 'conflict', path: 'agentId' }, `${key} to ${other}`)
      refused(t, await send(url, 'POST', `/v1/threads/${key}-thread/messages`, { body: { text: 'Hi', agentId: other } }), { status: 409, code: 'conflict', path: 'agentId' }, `${key} asked of ${other}`)
      refused(t, await send(url, 'POST', '/v1/threads', { body: { id: `${key}-thread`, agentId: other === 'told' ? key : other } }), { status: 409, code: 'conflict' }, `${key} made again`)
    }
    t.match((await send(url, 'PATCH', `/v1/threads/${key}-thread`, { body: { agentId: key, title: 'Mine' } })).json, { agentId: agentId(key), title: 'Mine' })
  }
  t.strictSame((await database.threads.list({ tenantId: 'default', userId: 'anonymous', roles: [] }, { limit: 9 })).items.map(({ id }) => id), ['kept-thread'])
  const { items } = await getJson(`${url}/v1/threads`)
  t.equal(items.length, 3)
})

t.test('an id that several agents are asked under at once is one thread', async (t) => {
  const { url } = await start(t)
  for (let round = 0; round < 8; round++) {
    const id = `wanted-at-once-${round}`
    const agents = [...places.slice(round % 3), ...places.slice(0, round % 3)]
    const replies = await Promise.all(agents.map((key) => round % 2 === 0 ? send(url, 'POST', `/v1/threads/${id}/messages`, { body: { text: 'Hi', agentId: key } }) : send(url, 'POST', '/v1/threads', { body: { id, agentId: key } })))
    t.strictSame(replies.map(({ status }) => status < 300 ? 'made' : status).sort(), [409, 409, 'made'])
    t.equal((await getJson(`${url}/v1/threads?limit=100`)).items.filter((thread: { id: string }) => thread.id === id).length, 1)
  }
})

t.test('what agents remember of a thread is where the thread is', async (t) => {
  const { url, model } = await start(t)
  for (const key of ['brief', 'archived']) {
    const ask = async (text: string) => {
      await post(`${url}/v1/threads/${key}-thread/messages`, { text, agentId: key })
      await until('it rests', async () => (await fetch(`${url}/v1/threads/${key}-thread/stream`)).status === 204)
      return model.requests.at(-1)?.messages.length
    }
    t.equal(await ask('One'), 1)
    t.equal(await ask('Two'), 3)
    t.equal((await fetch(`${url}/v1/threads/${key}-thread`, { method: 'DELETE' })).status, 204)
    t.equal(await ask('Three'), 1)
  }
})

t.test('a run in a thread of another storage is stored there', async (t) => {
  const { url } = await start(t)
  for (const key of places) {
    t.match((await send(url, 'POST', `/v1/agents/${key}/run`, { body: { input: 'Hi', threadId: `${key}-run-thread` } })).json, { text: 'Hello' })
    t.match(await getJson(`${url}/v1/threads/${key}-run-thread`), { messageCount: 2 })
    t.strictSame((await getJson(`${url}/v1/threads/${key}-run-thread/files`)).items, [])
  }
})

t.test('after a restart, threads of a storage that lasts are there, and those in memory have left nothing', async (t) => {
  const first = await start(t)
  for (const key of places) await post(`${first.url}/v1/threads/${key}-thread/messages`, { text: `Hi ${key}`, agentId: key })
  const history = await getJson(`${first.url}/v1/threads/archived-thread/messages`)
  await first.app.close()
  const { url } = await start(t, first)
  t.strictSame(await getJson(`${url}/v1/threads/archived-thread/messages`), history)
  t.strictSame((await getJson(`${url}/v1/threads`)).items.map(({ id }: { id: string }) => id).sort(), ['archived-thread', 'kept-thread'])
  t.strictSame((await getJson(`${url}/v1/threads?q=brief`)).items, [])
  refused(t, await send(url, 'GET', '/v1/threads/brief-thread'), { status: 404, code: 'not_found' }, 'one in memory')
  t.equal((await post(`${url}/v1/threads/archived-thread/messages`, { text: 'And now?' })).status, 200, 'it goes on without naming its agent')
  t.match(await getJson(`${url}/v1/threads/archived-thread`), { messageCount: 4 })
  t.match(await getJson(`${url}/v1/runs/${history.items[1].metadata.runId}`), { threadId: 'archived-thread', status: 'completed' })
})

t.test('an agent made over HTTP keeps its threads where its base does, though nobody can talk to the base', async (t) => {
  const bases = [{ key: 'base', abstract: true, storage: 'memory' as const }, { key: 'told-base', abstract: true, storage: 'none' as const }]
  const model = scriptedModel([['Hello']])
  const { url, database } = await startApp(t, { model, agents: [{ key: 'kept' }], permissions: { agent: [allowAll] }, agentKit: kitWith(bases, { model: model.id }) })
  const made = async (base: string): Promise<string> => (await send(url, 'POST', '/v1/runtime-agents', { body: { base, name: 'Mine' } })).json.id
  t.equal(textIn(await post(`${url}/v1/threads/thread-of-mine/messages`, { text: 'Hi', agentId: await made('base') })), 'Hello')
  t.match(await getJson(`${url}/v1/threads/thread-of-mine`), { messageCount: 2 })
  t.strictSame((await database.threads.list({ tenantId: 'default', userId: 'anonymous', roles: [] }, { limit: 9 })).items, [])
  t.equal(textIn(await post(`${url}/v1/threads/thread-untold/messages`, { text: 'Hi', agentId: await made('told-base') })), 'Hello')
  t.equal((await getJson(`${url}/v1/threads`)).items.length, 1)
})

t.test('a chat without a thread is stored in no storage', async (t) => {
  const { url } = await start(t)
  for (const key of [...places, 'told']) t.equal(textIn(await post(`${url}/api/chat`, { messages: [userMessage('Hi')], agentId: key })), 'Hello')
  t.strictSame((await getJson(`${url}/v1/threads`)).items, [])
})

t.test('the service is ready while all of its storages answer', async (t) => {
  let down = false
  const storage = defineStorage({
    name: 'archive',
    open: async ({ openDatabase }) => {
      const database = await openDatabase('file::memory:')
      return { ...database, ping: async () => { if (down) throw new Error('down') } }
    }
  })
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]), agents: [{ key: 'tester', storage }] })
  t.equal((await fetch(`${url}/ready`)).status, 200)
  down = true
  t.equal((await fetch(`${url}/ready`)).status, 503)
})
