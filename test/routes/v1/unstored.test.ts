import t from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { protocolNames } from '../../../src/messages/wire.ts'
import { callersWithKeys } from '../../helpers/callers.ts'
import { getJson, openStream, post, startApp, textIn, until, userMessage } from '../../helpers/app.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { refused, send } from '../request.ts'

const agents = [{ key: 'tester', storage: 'none' as const }, { key: 'keeper' }]
const said = (text: string, id = 'answer-1') => ({ id, role: 'assistant', parts: [{ type: 'text', text }] })

t.test('an agent that keeps no threads answers on every wire, and nothing is stored', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model, agents })
  const thread = `${url}/v1/threads/unstored-1`
  for (const protocol of protocolNames) {
    const reply = await post(`${thread}/messages?protocol=${protocol}`, { text: 'Hi' })
    t.equal(reply.status, 200, protocol)
    t.match(reply.body, 'Hello', protocol)
    t.equal(reply.headers.get('x-thread-id'), null)
  }
  for (const body of [{ message: userMessage('Hi') }, { messages: [userMessage('One'), said('Two'), userMessage('Hi')] }]) t.equal(textIn(await post(`${thread}/messages`, body)), 'Hello')
  t.strictSame(model.requests.at(-1)?.messages, [{ role: 'user', content: 'One' }, { role: 'assistant', text: 'Two', toolCalls: [] }, { role: 'user', content: 'Hi' }])
  t.equal(textIn(await post(`${url}/api/chat`, { id: 'unstored-1', messages: [userMessage('Hi')] })), 'Hello')

  t.strictSame((await getJson(`${url}/v1/threads`)).items, [])
  for (const path of ['', '/messages', '/approvals', '/artifacts', '/files', '/usage']) refused(t, await send(url, 'GET', `/v1/threads/unstored-1${path}`), { status: 404, code: 'not_found' }, path)
  refused(t, await send(url, 'POST', '/v1/threads/unstored-1/stop'), { status: 404, code: 'not_found' }, 'stop')
  t.equal((await fetch(`${thread}/stream`)).status, 204)
})

t.test('it makes no threads and takes none', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]), agents })
  refused(t, await send(url, 'POST', '/v1/threads', { body: {} }), { status: 400, code: 'invalid_request', path: 'agentId' }, 'a new thread')
  refused(t, await send(url, 'POST', '/v1/agents/tester/run', { body: { input: 'Hi', threadId: 'unstored-1' } }), { status: 400, code: 'invalid_request', path: 'threadId' }, 'a run in a thread')
  t.match((await send(url, 'POST', '/v1/agents/tester/run', { body: { input: 'Hi' } })), { status: 200 })
  await post(`${url}/v1/threads/kept-thread/messages`, { text: 'Hi', agentId: 'keeper' })
  refused(t, await send(url, 'PATCH', '/v1/threads/kept-thread', { body: { agentId: 'tester' } }), { status: 409, code: 'conflict', path: 'agentId' }, 'another agent by PATCH')
  refused(t, await send(url, 'POST', '/v1/threads/kept-thread/messages', { body: { text: 'Hi', agentId: 'tester' } }), { status: 409, code: 'conflict', path: 'agentId' }, 'another agent by a message')
  refused(t, await send(url, 'PATCH', '/v1/threads/no-thread-1', { body: { agentId: 'tester' } }), { status: 404, code: 'not_found' }, 'a thread that is not there')
  t.match(await getJson(`${url}/v1/threads/kept-thread`), { agentId: agentId('keeper'), messageCount: 2 })
})

t.test('another answer is made of what comes before it, and an answered call needs the conversation', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model, agents })
  const messages = [userMessage('One', 'q-1'), said('Two'), userMessage('Three', 'q-2'), said('Four', 'answer-2')]
  const asked = async (body: object) => {
    await post(`${url}/v1/threads/unstored-1/messages`, { trigger: 'regenerate-message', messages, ...body })
    return model.requests.at(-1)?.messages.length
  }
  t.equal(await asked({}), 3)
  t.equal(await asked({ messageId: 'answer-1' }), 1)
  t.equal(await asked({ messageId: 'q-1' }), 1)
  const answered = { id: 'answer-1', role: 'assistant', parts: [{ type: 'tool-ask', toolCallId: 'c1', state: 'output-available', input: {}, output: 1 }] }
  refused(t, await send(url, 'POST', '/v1/threads/unstored-1/messages', { body: { message: answered } }), { status: 400, code: 'invalid_request', path: 'messages' }, 'an answer alone')
  t.equal((await post(`${url}/v1/threads/unstored-1/messages`, { messages: [userMessage('Ask'), answered, userMessage('More')], messageId: 'answer-1' })).chunks[0]?.['messageId'], 'answer-1')
  t.strictSame(model.requests.at(-1)?.messages.map(({ role }) => role), ['user', 'assistant', 'tool'], 'what comes after the answered call is not told')
  const file = { role: 'user', parts: [{ type: 'text', text: 'See' }, { type: 'file', mediaType: 'text/plain', url: '/v1/threads/unstored-1/files/f/content' }] }
  refused(t, await send(url, 'POST', '/v1/threads/unstored-1/messages', { body: { messages: [file] } }), { status: 400, code: 'invalid_request', path: 'messages.0.parts.1.url' }, 'a file')
})

t.test('its runs are stopped by their id, by whoever began them and nobody else', async (t) => {
  const { callers, env } = callersWithKeys('ada', 'bob')
  const model = scriptedModel([['Slow', { hang: true }]])
  const { url, app } = await startApp(t, { model, agents, env })
  const response = await fetch(`${url}/v1/threads/unstored-1/messages`, { method: 'POST', body: '{"text":"Hi"}', headers: { 'content-type': 'application/json', ...callers.ada.headers } })
  const runId = response.headers.get('x-run-id') ?? ''
  await until('it runs', () => app.runRegistry.running === 1)
  const stop = (headers: Readonly<Record<string, string>>) => fetch(`${url}/v1/runs/${runId}/stop`, { method: 'POST', headers })
  t.equal((await stop(callers.bob.headers)).status, 404)
  t.equal(app.runRegistry.running, 1)
  t.equal((await stop(callers.ada.headers)).status, 200)
  t.match(await response.text(), /"type":"abort"[^]*"type":"finish"/)
  t.equal(model.closed(), 1)
})

t.test('a run of it ends when its reader leaves', async (t) => {
  const model = scriptedModel([['Slow', { hang: true }]])
  const { url, app } = await startApp(t, { model, agents })
  const stream = await openStream(`${url}/v1/threads/unstored-1/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Slow')
  stream.leave()
  await until('it has ended', () => app.runRegistry.running === 0)
  t.equal(model.closed(), 1)
})

t.test('a member does not wait for the client: nothing could go on inside of its delegation', async (t) => {
  const model = scriptedModel([toolCall('d1', 'helper', { task: 'ask' }), toolCall('c1', 'ask'), ['No colour'], ['It could not ask']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', storage: 'none', agents: ['helper'] }, { key: 'helper', tools: [defineTool({ name: 'ask' })] }] })
  const reply = await post(`${url}/v1/threads/unstored-1/messages`, { text: 'Hi' })
  t.equal(textIn(reply), 'It could not ask')
  t.match(model.requests[2]?.messages.at(-1), { role: 'tool', content: /client/ })
})

t.test('a thread that is there goes on, whatever its agent says by now of new ones', async (t) => {
  const first = await startApp(t, { model: scriptedModel([['Hello']]), agents: [{ key: 'tester' }] })
  await post(`${first.url}/v1/threads/older-thread/messages`, { text: 'Hi' })
  const model = scriptedModel([['Again']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', storage: 'none' }], databaseUrl: first.databaseUrl })
  t.equal(textIn(await post(`${url}/v1/threads/older-thread/messages`, { messages: [userMessage('FORGED'), userMessage('And now?')] })), 'Again')
  t.strictSame(model.requests[0]?.messages.map((message) => 'content' in message ? message.content : message.text), ['Hi', 'Hello', 'And now?'])
  t.match(await getJson(`${url}/v1/threads/older-thread`), { messageCount: 4 })
})
