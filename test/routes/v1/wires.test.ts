import t from 'tap'
import { AppError } from '../../../src/errors.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, openStream, post, read, startApp, textIn, until } from '../../helpers/app.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

const body = { text: 'Hi' }

t.test('a reply is asked for as text: the answer and nothing else', async (t) => {
  const lookUp = defineTool({ name: 'look_up', input: { type: 'object' }, execute: () => 'found' })
  const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'Hm.' }, 'One ', 'moment.', ...toolCall('c1', 'look_up')], ['It is there.']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [lookUp] }] })
  const reply = await post(`${url}/v1/threads/thread-1/messages?protocol=text`, body)
  t.equal(reply.status, 200)
  t.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(reply.headers.get('x-thread-id'), 'thread-1')
  t.equal(reply.body, 'One moment.\n\nIt is there.')
})

t.test('a reply as text has its headers before its first word, and no comments in its silence', async (t) => {
  let goOn = () => {}
  const waiting = new Promise<void>((resolve) => { goOn = resolve })
  const { url } = await startApp(t, { model: scriptedModel([[{ until: waiting }, 'Late.']]), env: { HEARTBEAT_MS: '20' } })
  const reply = await fetch(`${url}/v1/threads/thread-1/messages?protocol=text`, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  t.equal(reply.status, 200)
  await new Promise((resolve) => { setTimeout(resolve, 100) }) // several heartbeats long
  goOn()
  t.equal(await reply.text(), 'Late.')
})

t.test('a reply as text that fails breaks the connection', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Half', { throw: new AppError('provider_unavailable', 'In our words.') }]]) })
  const reply = await openStream(`${url}/v1/threads/thread-1/messages?protocol=text`, body)
  t.strictSame(await reply.ended, { cut: true })
  t.equal(reply.body(), 'Half')
})

t.test('a reply is asked for as the events themselves', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  const { body: text, headers } = await post(`${url}/v1/threads/thread-1/messages?protocol=native`, body)
  t.equal(headers.get('x-vercel-ai-ui-message-stream'), null)
  const types = Array.from(text.matchAll(/^event: (.+)$/gm), ([, type]) => type)
  t.strictSame(types, ['message-start', 'step-start', 'text-start', 'text-delta', 'usage', 'text-end', 'step-end', 'message-end', 'run-completed'])
})

t.test("the request's wire goes before the route's, and the route's before the agent's", async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]), agents: [{ key: 'tester', protocol: 'text' }] })
  const typeOf = async (path: string, more: object = {}) => (await post(`${url}${path}`, { ...body, ...more })).headers.get('content-type')
  t.match(await typeOf('/v1/threads/thread-1/messages'), /^text\/plain/, "the agent's")
  t.match(await typeOf('/v1/threads/thread-2/messages?protocol=ai-sdk'), /^text\/event-stream/, "the request's")
  t.match(await typeOf('/api/chat', { id: 'thread-3' }), /^text\/event-stream/, "the route's")
  t.match(await typeOf('/api/chat?protocol=text', { id: 'thread-4' }), /^text\/plain/, "the request's before the route's")
  t.match(await typeOf('/api/chat?protocol=text'), /^text\/plain/, 'stateless too')
})

t.test('a wire that there is not is refused before anything happens', async (t) => {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model })
  for (const [path, query, words] of [
    ['/v1/threads/thread-1/messages', 'protocol=morse', /protocol.*"morse".*ai-sdk, text, native/],
    ['/api/chat', 'protocol=morse', /protocol.*"morse"/],
    ['/v1/threads/thread-1/messages', 'profile=v4', /profile.*"v4".*portable, full, v5/]
  ] as const) {
    const reply = await post(`${url}${path}?${query}`, body)
    t.equal(reply.status, 400, path)
    t.match(JSON.parse(reply.body), { code: 'invalid_request', message: words, details: { issues: [{ path: query.split('=')[0] }] } }, path)
  }
  t.equal((await fetch(`${url}/v1/threads/thread-1/stream?protocol=morse`)).status, 400)
  t.equal(model.requests.length, 0)
  t.equal((await fetch(`${url}/v1/threads/thread-1`)).status, 404, 'nothing is stored')
})

t.test('a running reply is resumed on the wire that is asked for', async (t) => {
  let goOn = () => {}
  const waiting = new Promise<void>((resolve) => { goOn = resolve })
  const { url } = await startApp(t, { model: scriptedModel([['Hel', { until: waiting }, 'lo']]) })
  const first = await openStream(`${url}/v1/threads/thread-1/messages`, body)
  await until('the answer has begun', () => first.text() === 'Hel')
  const replies = await Promise.all(['/v1/threads/thread-1/stream?protocol=text', '/api/chat/thread-1/stream?protocol=native', '/v1/threads/thread-1/stream'].map((path) => fetch(`${url}${path}`)))
  goOn()
  const [text, native, sdk] = await Promise.all(replies.map(read))
  await first.ended
  t.equal(text?.body, 'Hello')
  t.match(native?.body, /^event: run-completed$/m)
  t.equal(sdk === undefined ? '' : textIn(sdk), 'Hello')
})

t.test('the profile is the request\'s, else the agent\'s', async (t) => {
  const lookUp = defineTool({ name: 'look_up', title: 'Look up', input: { type: 'object' }, execute: () => 'found' })
  const model = scriptedModel([toolCall('c1', 'look_up'), ['ok'], toolCall('c2', 'look_up'), ['ok'], toolCall('c3', 'look_up'), ['ok']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [lookUp], wireProfile: 'full' }] })
  const titleIn = async (path: string) => (await post(`${url}${path}`, body)).chunks.find(({ type }) => type === 'tool-input-start')?.['title']
  t.equal(await titleIn('/v1/threads/thread-1/messages'), 'Look up')
  t.equal(await titleIn('/v1/threads/thread-2/messages?profile=portable'), undefined)
  t.equal(await titleIn('/api/chat'), 'Look up', 'useChat\'s own path too')
  t.equal((await getJson(`${url}/v1/threads/thread-1/messages`)).items.length, 2)
})
