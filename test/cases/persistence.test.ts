import { readFileSync } from 'node:fs'
import t from 'tap'
import { z } from 'zod'
import type { Client } from '../../src/database/client.ts'
import { openPostgresql } from '../../src/database/postgresql.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { getJson, post, until, type TestApp } from '../helpers/app.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, sameAfterReload, seen, startCaseService, upstreamClosed } from './case-service.ts'

const upstream = await startCasesUpstream(t)
const control = { agents: [caseAgent(controlCase)] }
const nul = 'a\u0000b'

t.test('P01: a NUL character is refused by name or kept harmlessly, wherever it comes in', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const { url } = service
  const threadId = newThreadId()
  await service.ask(threadId, 'Hello')
  const answerId = (await service.history(threadId))[1]?.id
  const before = await getJson(`${url}/v1/threads`)
  const messages = `/v1/threads/${threadId}/messages`
  const encoded = encodeURIComponent(nul)
  const message = { role: 'user', parts: [{ type: 'text', text: 'x' }] }
  const refused: ReadonlyArray<[method: string, path: string, field: string, body?: unknown]> = [
    ['POST', messages, 'text', { text: nul }],
    ['POST', messages, 'message.parts.0.text', { message: { role: 'user', parts: [{ type: 'text', text: nul }] } }],
    ['POST', messages, 'message.id', { message: { ...message, id: nul } }],
    ['POST', messages, 'messageId', { message, messageId: nul }],
    ['POST', '/api/chat', 'id', { id: `thread-${nul}`, messages: [message] }],
    ['POST', `/v1/threads/thread-${encoded}/messages`, 'threadId', { text: 'x' }],
    ['POST', '/v1/threads', 'title', { title: nul }],
    ['POST', '/v1/threads', 'id', { id: `thread-${nul}` }],
    ['POST', '/v1/threads', 'agentId', { agentId: nul }],
    ['PATCH', `/v1/threads/${threadId}`, 'title', { title: nul }],
    ['PATCH', `/v1/threads/${threadId}`, 'headId', { headId: nul }],
    ['PUT', `${messages}/${answerId}/rating`, 'comment', { rating: 1, comment: nul }],
    ['PUT', `${messages}/${encoded}/rating`, 'messageId', { rating: 1 }],
    ['GET', `/v1/threads?q=${encoded}`, 'q'],
    ['GET', `/v1/threads?cursor=${encoded}`, 'cursor'],
    ['GET', `/v1/threads?agentId=${encoded}`, 'agentId'],
    ['GET', `/v1/threads/${encoded}`, 'threadId'],
    ['GET', `${messages}?before=${encoded}`, 'before'],
    ['GET', `/v1/runs/${encoded}`, 'runId'],
    ['GET', `/v1/agents/${encoded}`, 'agentId'],
    ['POST', `/v1/agents/${controlCase}/run`, 'input', { input: nul }]
  ]
  for (const [method, path, field, body] of refused) {
    const response = await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) })
    t.match({ status: response.status, body: await response.json() }, { status: 400, body: { code: 'invalid_request', details: { issues: [{ path: field }] } } }, `${method} ${path} ${field}`)
  }
  t.strictSame(await getJson(`${url}/v1/threads`), before, 'nothing was written')
  t.equal((await service.history(threadId)).length, 2)

  const kept = await post(`${url}/v1/threads`, { metadata: { [nul]: nul } })
  t.equal(kept.status, 201)
  t.strictSame(JSON.parse(kept.body).metadata, { [nul]: nul }, 'metadata is kept as it came')
  await nextMessageWorks(t, service, threadId)
})

t.test('P01: a NUL character that a model or a tool says is stored', async (t) => {
  const tools = [defineTool({ name: 'nul', execute: () => ({ [nul]: nul }) })]
  const service = await startCaseService(t, upstream, { agents: [caseAgent('M05', { tools }), caseAgent(controlCase, { tools })] })
  const threadId = newThreadId()
  const answer = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go'))
  t.match(seen(answer), { text: 'AFTER-TOOL', errors: [], calls: [{ state: 'output-available' }] })
  t.equal((await getJson(`${service.url}/v1/threads?q=after-tool`)).items.length, 1)
  await nextMessageWorks(t, service, threadId)
})

t.test('P01: half an emoji is kept, and does not reach a provider that would refuse it', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const threadId = newThreadId()
  const reply = await service.ask(threadId, 'cut \ud83d')
  t.equal(reply.status, 200)
  await sameAfterReload(t, service, threadId, reply)
  t.match((await service.history(threadId))[0]?.parts[0]?.['text'], /^cut ./)
  const context = await nextMessageWorks(t, service, threadId)
  t.notMatch(context[1]?.content, /\p{Surrogate}/u)
})

t.test('P03: ten first messages at once make one thread', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const threadId = newThreadId()
  const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => service.ask(threadId, `Message ${n}`)))
  const taken = replies.filter(({ status }) => status === 200)
  t.ok(taken.length >= 1)
  t.strictSame(replies.filter(({ status }) => status !== 200 && status !== 409).map(({ body }) => body), [])
  for (const { body } of replies.filter(({ status }) => status === 409)) t.match(JSON.parse(body), { code: 'thread_busy', retryable: true })
  const { items } = await getJson(`${service.url}/v1/threads`)
  t.strictSame(items.map(({ id, messageCount }: Record<string, unknown>) => ({ id, messageCount })), [{ id: threadId, messageCount: taken.length * 2 }])
  t.strictSame((await service.history(threadId)).map(({ role }) => role), taken.flatMap(() => ['user', 'assistant']))
  await nextMessageWorks(t, service, threadId)
})

t.test('P03: ten creations of one thread at once make one', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const id = newThreadId()
  const replies = await Promise.all(Array.from({ length: 10 }, () => post(`${service.url}/v1/threads`, { id })))
  t.strictSame(replies.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)])
  t.equal((await getJson(`${service.url}/v1/threads`)).items.length, 1)
})

t.test('P03: ten ratings of one answer at once are one, and the last one wins', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const threadId = newThreadId()
  await service.ask(threadId, 'Hello')
  const url = `${service.url}/v1/threads/${threadId}/messages/${(await service.history(threadId))[1]?.id}/rating`
  const rate = (rating: number) => post(url, { rating }, { method: 'PUT' })
  const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => rate(n % 2 === 0 ? 1 : -1)))
  t.strictSame(replies.map(({ status }) => status), Array(10).fill(200))
  await rate(-1)
  t.strictSame((await service.history(threadId))[1]?.metadata.rating, { rating: -1 })
  t.equal((await rows(service)).ratings, 1)
})

t.test('P06: a thread deleted while its answer streams stays deleted', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent('S43b')] })
  const threadId = newThreadId()
  const asked = service.ask(threadId, 'Go')
  await until('the answer has begun', async () => (await service.requests()).length > 0)
  t.equal(await remove(`${service.url}/v1/threads/${threadId}`), 204)
  const reply = await asked
  t.match(reply.chunks.slice(-3).map(({ type }) => type), ['abort', 'finish-step', 'finish'], 'the stream ends as stopped')
  t.ok(reply.body.endsWith('data: [DONE]\n\n'))
  await upstreamClosed(service)
  t.equal((await fetch(`${service.url}/v1/threads/${threadId}`)).status, 404)
  t.strictSame((await getJson(`${service.url}/v1/threads`)).items, [])
  t.strictSame(await rows(service), { threads: 0, messages: 0, runs: 0, ratings: 0, usage: 0 })
  t.notMatch(service.logged(), /unhandled/i)
})

t.test('P06: all threads deleted while an answer streams stay deleted', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent('S43b')] })
  const asked = service.ask(newThreadId(), 'Go')
  await until('the answer has begun', async () => (await service.requests()).length > 0)
  t.strictSame(await (await fetch(`${service.url}/v1/threads`, { method: 'DELETE' })).json(), { deleted: 1 })
  const reply = await asked
  t.match(reply.chunks.at(-1), { type: 'finish', finishReason: 'other' })
  await upstreamClosed(service)
  t.strictSame(await rows(service), { threads: 0, messages: 0, runs: 0, ratings: 0, usage: 0 })
})

t.test('P07: a deleted thread takes all that hangs on it along', async (t) => {
  const service = await startCaseService(t, upstream, control)
  const { url } = service
  const threadId = newThreadId()
  await service.ask(threadId, 'Hello')
  await post(`${url}/v1/threads/${threadId}/messages`, { trigger: 'regenerate-message' })
  const answerId = (await service.history(threadId))[1]?.id
  t.equal((await post(`${url}/v1/threads/${threadId}/messages/${answerId}/rating`, { rating: 1 }, { method: 'PUT' })).status, 200)
  t.match(await rows(service), { threads: 1, messages: 3, runs: 2, ratings: 1, usage: 2 })
  t.equal(await remove(`${url}/v1/threads/${threadId}`), 204)
  t.strictSame(await rows(service), { threads: 0, messages: 0, runs: 0, ratings: 0, usage: 0 })
  t.equal(await remove(`${url}/v1/threads/${threadId}`), 404)
})

t.test('P09: odd numbers of tools and of JSON files break no reply and are not rounded in text', async (t) => {
  const odd = { big: 9007199254740993n, huge: Infinity, none: NaN, minus: -0, date: new Date(NaN) }
  const tools = [defineTool({ name: 'odd', input: z.looseObject({}), execute: () => odd })]
  const service = await startCaseService(t, upstream, { agents: [caseAgent('M05', { tools }), caseAgent(controlCase, { tools })] })
  const threadId = newThreadId()
  const json = readFileSync(new URL('../fixtures/json/bigint.json', import.meta.url), 'utf8')
  const reply = await service.ask(threadId, json, { metadata: JSON.parse(json) })
  t.equal(reply.status, 200)
  const answer = await sameAfterReload(t, service, threadId, reply)
  t.strictSame(answer.parts.find(({ type }) => type === 'tool-odd')?.['output'], { big: '9007199254740993', huge: null, none: null, minus: 0, date: null })
  const [question] = await service.history(threadId)
  t.strictSame(question?.parts, [{ type: 'text', text: json }], 'the text is kept to the digit')
  t.match((await nextMessageWorks(t, service, threadId)).find(({ role }) => role === 'tool')?.content, '9007199254740993')
})

t.test('P10: paging shows each of many threads of the same instant once', async (t) => {
  const service = await startCaseService(t, upstream, control)
  await withClient(service, async (client) => {
    const at = new Date('2026-01-02T03:04:05.678Z')
    await client.thread.createMany({
      data: Array.from({ length: 30 }, (_, n) => ({
        key: `key-${n}`, id: `thread-${String(n).padStart(4, '0')}`, tenantId: 'default', ownerId: 'anonymous', agentId: 'a', metadata: '{}', createdAt: at, updatedAt: at, activeAt: at
      }))
    })
  })
  const seenIds: string[] = []
  let cursor = ''
  for (let page = 0; page < 3; page++) {
    const { items, nextCursor } = await getJson(`${service.url}/v1/threads?limit=10${cursor}`)
    t.equal(items.length, 10)
    seenIds.push(...items.map(({ id }: { id: string }) => id))
    cursor = `&cursor=${nextCursor}`
    t.equal(nextCursor === null, page === 2)
  }
  t.equal(new Set(seenIds).size, 30)
})

t.test('P13: a huge tool result is shown whole, and the model is given its head', async (t) => {
  const huge = 'x'.repeat(3_000_000)
  const tools = [defineTool({ name: 'huge', execute: () => huge })]
  const service = await startCaseService(t, upstream, { agents: [caseAgent('M05', { tools }), caseAgent(controlCase, { tools })] })
  const threadId = newThreadId()
  const answer = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go', { agentId: 'M05' }))
  t.equal(answer.parts.find(({ type }) => type === 'tool-huge')?.['output'], huge, 'the user has all of it')
  const given = (await service.requests())[1]?.body.messages.find(({ role }) => role === 'tool')?.content ?? ''
  t.ok(given.length > 90_000 && given.length < 101_000, `${given.length} characters go to the model`)
  t.match(given.slice(-200), /\[Cut: 3000000 characters in all/)

  for (let turn = 0; turn < 2; turn++) {
    const messages = await nextMessageWorks(t, service, threadId)
    const again = messages.find(({ role }) => role === 'tool')?.content ?? ''
    t.ok(again.length > 3_000 && again.length < 5_000, `${again.length} characters in later turns`)
    t.match(again.slice(-200), /\[Cut: 3000000 characters in all/)
  }
})

async function remove (url: string): Promise<number> {
  return (await fetch(url, { method: 'DELETE' })).status
}

async function rows (service: TestApp) {
  let counts = {}
  await withClient(service, async (client) => {
    const [threads, messages, runs, ratings, usage] = await Promise.all([client.thread.count(), client.message.count(), client.run.count(), client.rating.count(), client.usage.count()])
    counts = { threads, messages, runs, ratings, usage }
  })
  return counts as Record<'threads' | 'messages' | 'runs' | 'ratings' | 'usage', number>
}

/** Looks into the database past the service. */
async function withClient ({ databaseUrl }: TestApp, work: (client: Client) => Promise<void>): Promise<void> {
  const connection = databaseUrl.startsWith('file:') ? openSqlite(databaseUrl) : openPostgresql(databaseUrl, { onConnectionError: () => {} })
  try {
    await work(connection.client)
  } finally {
    await connection.close()
  }
}
