import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { createChat } from '../helpers/ai-clients.ts'
import { chunksOf, getJson, post, read, textIn, until } from '../helpers/app.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, nothingLeaked, sameAfterReload, seen, startCaseService, unfinished, upstreamClosed, type CaseService } from './case-service.ts'

const upstream = await startCasesUpstream(t)
const slow = 'S43b'
const endless = 'S43'

t.test('C01: a client that leaves in mid-answer loses nothing of it', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(slow), caseAgent(controlCase)] })
  const threadId = newThreadId()
  const heard = await leaveAfter(service, threadId, slow, /t1 /)
  t.match(heard, /t0 /)

  await until('the run goes on without its reader', async () => textOf(await service.history(threadId, '?include=streaming')).includes('t2 '))
  t.strictSame((await service.history(threadId)).map(({ role }) => role), ['user'], 'the unfinished answer is shown on request only')
  t.equal((await service.stop(threadId)).status, 200)
  const history = await service.history(threadId)
  t.strictSame(history.map(({ role }) => role), ['user', 'assistant'], 'one answer')
  t.match(textOf(history), /^t0 t1 t2 /)
  t.match(history[1]?.metadata, { status: 'stopped' })
  await nextMessageWorks(t, service, threadId)
})

t.test('C01: a client that comes back reads the answer from its beginning', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(slow)] })
  const threadId = newThreadId()
  await leaveAfter(service, threadId, slow, /t0 /)
  const resumed = fetch(`${service.url}/v1/threads/${threadId}/stream`).then(read)
  await until('the answer has gone on', async () => textOf(await service.history(threadId, '?include=streaming')).includes('t1 '))
  await service.stop(threadId)
  const reply = await resumed
  t.match(textIn(reply), /^t0 t1 /)
  await sameAfterReload(t, service, threadId, reply)
})

t.test('C02: stop closes the request to the model', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(endless), caseAgent(controlCase)] })
  const threadId = newThreadId()
  await leaveAfter(service, threadId, endless, /tick tick /)
  // Not the upstream's log: it hears nobody while it writes this fast.
  t.strictSame((await service.history(threadId, '?include=streaming'))[1]?.metadata.status, 'streaming', 'leaving is not stopping')
  const stopped = await service.stop(threadId)
  t.equal(stopped.status, 200)
  await upstreamClosed(service)
  t.equal((await service.history(threadId))[1]?.metadata.status, 'stopped')
  await nextMessageWorks(t, service, threadId)
})

t.test('C02: leaving closes the request to the model where the agent says so', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(endless, { onDisconnect: 'stop' })] })
  const threadId = newThreadId()
  await leaveAfter(service, threadId, endless, /tick tick /)
  await upstreamClosed(service)
  await until('the answer is stopped', async () => (await service.history(threadId))[1]?.metadata.status === 'stopped')
})

t.test('C10: a tool that throws in mid-stream is a result, and the stream goes on to its end', async (t) => {
  const tools = [defineTool({ name: 'broken', execute: () => { throw new Error('at SECRETSECRET.js:1') } })]
  const service = await startCaseService(t, upstream, { agents: [caseAgent('M05', { tools }), caseAgent(controlCase, { tools })] })
  const threadId = newThreadId()
  const reply = await service.ask(threadId, 'Go', { agentId: 'M05' })
  const answer = await sameAfterReload(t, service, threadId, reply)
  t.match(seen(answer), { text: 'AFTER-TOOL', errors: [], calls: [{ name: 'broken', state: 'output-error' }] })
  await nextMessageWorks(t, service, threadId)
  t.notMatch(reply.body + JSON.stringify(await service.history(threadId)) + JSON.stringify(await service.requests()), /SECRETSECRET/)
})

t.test('C10: a database that goes away in mid-stream ends the stream with an error', async (t) => {
  const tools = [defineTool({ name: 'unplug', execute: async () => { await database.close() } })]
  const service = await startCaseService(t, upstream, { agents: [caseAgent('M05', { tools })] })
  const { database } = service
  const reply = await service.ask(newThreadId(), 'Go')
  t.match(reply.chunks.slice(-2), [{ type: 'error' }, { type: 'finish', finishReason: 'error' }])
  t.match(reply.chunks.find(({ type }) => type === 'data-error'), { data: { code: 'storage_unavailable', retryable: true, ref: /^[0-9a-f]{8}$/ } })
  t.ok(reply.body.endsWith('data: [DONE]\n\n'))
  const health = await fetch(`${service.url}/health`)
  t.equal(health.status, 200, 'the process is alive')
  const ready = await fetch(`${service.url}/ready`)
  t.equal(ready.status, 503)
})

t.test('C11: the same message sent twice at once is one message and one answer', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(slow), caseAgent(controlCase)] })
  const threadId = newThreadId()
  const body = { agentId: slow, message: { id: 'client-msg-1', role: 'user', parts: [{ type: 'text', text: 'Once' }] } }
  const url = `${service.url}/v1/threads/${threadId}/messages`
  const sent = [post(url, body), post(url, body)]
  await until('the model is asked', async () => (await service.requests()).length > 0)
  await until('the answer has begun', async () => textOf(await service.history(threadId, '?include=streaming')).includes('t0 '))
  await service.stop(threadId)
  const replies = await Promise.all(sent)
  t.strictSame(replies.map(({ status }) => status), [200, 200])
  t.equal(new Set(replies.map(({ headers }) => headers.get('x-run-id'))).size, 1, 'both read the same run')
  for (const reply of replies) await sameAfterReload(t, service, threadId, reply)
  t.strictSame((await service.history(threadId)).map(({ role, id }) => role === 'user' ? id : role), ['client-msg-1', 'assistant'])
  t.equal((await service.requests()).length, 1)
  await nextMessageWorks(t, service, threadId)
})

t.test('C13: regenerating leaves one visible answer, and the model does not see the old ones', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(controlCase)] })
  const chat = await createChat('ai6', { api: `${service.url}/api/chat`, id: newThreadId() })
  await chat.sendMessage({ text: 'Question' })
  const ids = [chat.messages[1]?.id]
  for (let n = 0; n < 2; n++) {
    await chat.regenerate()
    ids.push(chat.messages[1]?.id)
  }
  t.equal(new Set(ids).size, 3, 'three answers were made')
  const history = await service.history(chat.id)
  t.strictSame(history.map(({ role }) => role), ['user', 'assistant'])
  t.strictSame(plain(history), plain(chat.messages), 'a reload shows what was live')
  t.equal(history[1]?.metadata.siblings, 3)
  const requests = await service.requests()
  t.strictSame(requests.map(({ body }) => body.messages.map(({ role }) => role)), [1, 2, 3].map(() => ['system', 'user']))
  const siblings = await getJson(`${service.url}/v1/threads/${chat.id}/messages/${ids[2]}/siblings`)
  t.strictSame(siblings.items.map(({ id }: { id: string }) => id), ids, 'the old ones are branches')
  await nextMessageWorks(t, service, chat.id)
})

t.test('C15: editing an earlier message takes later turns out of the context', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(controlCase)] })
  const chat = await createChat('ai6', { api: `${service.url}/api/chat`, id: newThreadId() })
  for (const text of ['MARK-ONE', 'MARK-TWO', 'MARK-THREE']) await chat.sendMessage({ text })
  const edited = chat.messages[2]?.id ?? ''
  await chat.sendMessage({ text: 'MARK-EDITED', messageId: edited })
  const requests = await service.requests()
  t.strictSame(requests.at(-1)?.body.messages.slice(1).map(({ content }) => content), ['MARK-ONE', 'Hello world', 'MARK-EDITED'])
  const history = await service.history(chat.id)
  t.strictSame(plain(history), plain(chat.messages), 'a reload shows what was live')
  t.equal(history[2]?.id, edited, 'under the id its client knows it by')
  t.equal(history[2]?.metadata.siblings, 2)
  await nextMessageWorks(t, service, chat.id)
})

t.test('C18: a connection cut on the way is not a finished answer', async (t) => {
  const service = await startCaseService(t, upstream, { agents: [caseAgent(slow), caseAgent(controlCase)] })
  const proxy = await startCuttingProxy(t, service.url, /t1 /)
  const chat = await createChat('ai6', { api: `${proxy}/api/chat`, id: newThreadId(), onError: () => {} })
  await chat.sendMessage({ text: 'Go' }, { body: { agentId: slow } })
  t.equal(chat.status, 'error', 'the client knows that it was cut off')
  t.match(textOf(chat.messages), /^t0 t1 $/, 'and shows what came')

  await until('the answer went on', async () => textOf(await service.history(chat.id, '?include=streaming')).includes('t2 '))
  await service.stop(chat.id)
  const history = await service.history(chat.id)
  t.match(textOf(history), /^t0 t1 t2 /)
  t.strictSame(history.flatMap(unfinished), [])
  await nextMessageWorks(t, service, chat.id)
  await nothingLeaked(t, service, chat.id, [])
})

function textOf (messages: Parameters<typeof unfinished>[0][]): string {
  return messages.filter(({ role }) => role === 'assistant').map((message) => seen(message).text).join('')
}

function plain (messages: Parameters<typeof unfinished>[0][]) {
  // As JSON: a client holds keys without values.
  return JSON.parse(JSON.stringify(messages.map(({ id, role, parts }) => ({ id, role, parts }))))
}

/** Sends a message and drops the TCP connection once the reply matches. */
async function leaveAfter ({ url }: CaseService, threadId: string, agentId: string, until: RegExp): Promise<string> {
  const leaving = new AbortController()
  const response = await fetch(`${url}/v1/threads/${threadId}/messages`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text: 'Go', agentId }), signal: leaving.signal })
  let heard = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    heard += decoder.decode(bytes, { stream: true })
    if (until.test(textIn({ chunks: chunksOf(heard.slice(0, heard.lastIndexOf('\n\n'))) }))) break
  }
  leaving.abort()
  return textIn({ chunks: chunksOf(heard.slice(0, heard.lastIndexOf('\n\n'))) })
}

/** Passes bytes on until the reply's deltas match, then ends the client's side in good order. */
async function startCuttingProxy (t: Test, target: string, until: RegExp): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const service = connect(Number(new URL(target).port), '127.0.0.1')
    let passed = ''
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {}) // the other side of a cut
    }
    client.pipe(service)
    service.on('data', (bytes) => {
      client.write(bytes)
      passed += bytes.toString('latin1')
      if (!until.test(passed)) return
      client.end()
      service.destroy()
    })
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
