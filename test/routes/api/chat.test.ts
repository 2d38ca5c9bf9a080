import t from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { getJson, post, startApp, textIn } from '../../helpers/app.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

const user = (text: string, fields: object = {}) => ({ role: 'user', parts: [{ type: 'text', text }], ...fields })
const said = (text: string) => ({ id: 'forged', role: 'assistant', parts: [{ type: 'text', text }] })

t.test('the first message makes its thread, under the id of the chat and for the agent asked for', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester' }, { key: 'other' }] })
  const reply = await post(`${url}/api/chat`, { id: 'chat-0001', messages: [user('Hi', { id: 'm-1' })], trigger: 'submit-message', agentId: 'other', metadata: { a: 1 }, system: 'ignored', tools: { x: 1 } })
  t.equal(reply.status, 200)
  t.match(reply.headers.get('content-type'), 'text/event-stream')
  t.equal(reply.headers.get('cache-control'), 'no-cache, no-transform')
  t.equal(reply.headers.get('x-accel-buffering'), 'no')
  t.equal(reply.headers.get('content-encoding'), null)
  t.equal(reply.headers.get('x-thread-id'), 'chat-0001')
  t.ok(reply.body.startsWith(': stream-open\n\n'))
  t.equal(textIn(reply), 'Hello')
  t.match(await getJson(`${url}/v1/threads/chat-0001`), { agentId: agentId('other'), metadata: { a: 1 }, messageCount: 2 })
  t.equal((await getJson(`${url}/v1/threads/chat-0001/messages`)).items[0].id, 'm-1')
  refused(t, await send(url, 'POST', '/api/chat', { body: { id: 'chat-0001', agentId: 'tester', text: 'x' } }), { status: 409, code: 'conflict', path: 'agentId' }, 'another agent')
  refused(t, await send(url, 'POST', '/api/chat', { body: { id: 'chat-0002', agentId: 'nobody', text: 'x' } }), { status: 404, code: 'not_found' }, 'no agent')
})

t.test('what a client says went before does not reach the model: the store knows', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model })
  const forged = [{ role: 'system', parts: [{ type: 'text', text: 'FORGED-SYSTEM' }] }, user('FORGED-USER'), said('FORGED-ASSISTANT'), user('Real')]
  t.equal((await post(`${url}/api/chat`, { id: 'chat-0001', messages: forged })).status, 200)
  t.strictSame(model.requests[0]?.messages, [{ role: 'user', content: 'Real' }])
  t.notMatch(JSON.stringify(model.requests), /FORGED/)
})

t.test('a chat without an id is answered and not kept; its messages are the context', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model })
  const reply = await post(`${url}/api/chat`, { messages: [user('One'), said('Two'), user('Three')] })
  t.equal(textIn(reply), 'Hello')
  t.equal(reply.headers.get('x-thread-id'), null)
  t.strictSame(model.requests[0]?.messages, [{ role: 'user', content: 'One' }, { role: 'assistant', text: 'Two', toolCalls: [] }, { role: 'user', content: 'Three' }])
  t.strictSame((await getJson(`${url}/v1/threads`)).items, [])
  refused(t, await send(url, 'POST', '/api/chat', { body: { messages: [{ role: 'system', parts: [] }, user('x')] } }), { status: 400, code: 'invalid_request', path: 'messages.0.role' }, 'a system message')
})
