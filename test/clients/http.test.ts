import { request } from 'node:http'
import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { post, read, startApp, textIn, until } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { createGate } from './live-chat.ts'

const allowed = 'https://app.example'
const cors = { CORS_ORIGINS: `${allowed},https://second.example` }

t.test('a stream has the headers that clients and proxies need', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Hello']]) })
  const { status, headers, body } = await post(`${server.url}/api/chat`, { id: 'headers-thread', text: 'Hi' })
  t.equal(status, 200)
  const expected = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-thread-id': 'headers-thread',
    connection: 'keep-alive'
  }
  for (const [name, value] of Object.entries(expected)) t.equal(headers.get(name), value, name)
  t.match(headers.get('x-run-id'), /^[0-9a-f-]{36}$/)
  t.ok(body.startsWith(': stream-open\n\ndata: {"type":"start","messageId":"'))
  t.ok(body.endsWith('data: [DONE]\n\n'))
  t.match(body, /data: {"type":"finish","finishReason":"stop"/)

  const native = await read(await fetch(`${server.url}/v1/runs/${headers.get('x-run-id')}/events`))
  t.equal(native.headers.get('content-type'), 'text/event-stream')
  t.equal(native.headers.get('x-vercel-ai-ui-message-stream'), null, 'the header of the other protocol')
})

t.test('a resumed stream has the same headers and bytes as the first', async (t) => {
  const gate = createGate()
  const model = scriptedModel([['Once ', { until: gate.opened }, 'upon a time']])
  const server = await startApp(t, { model })
  const posted = post(`${server.url}/api/chat`, { id: 'resumed-bytes', text: 'A story' })
  await until('the model is asked', () => model.requests.length === 1)
  const replies = await Promise.all(['/api/chat', '/v1/threads'].map((path) => fetch(`${server.url}${path}/resumed-bytes/stream`)))
  gate.open()
  const streams = await Promise.all(replies.map(read))
  const first = await posted
  for (const stream of streams) {
    t.equal(stream.body, first.body)
    for (const name of ['content-type', 'cache-control', 'x-vercel-ai-ui-message-stream', 'x-thread-id', 'x-run-id']) t.equal(stream.headers.get(name), first.headers.get(name), name)
  }
})

t.test('an allowed origin may read streams, empty replies and errors; another may read nothing', async (t) => {
  const tool = defineTool({ name: 'ask_colour' })
  const model = scriptedModel([['Hello'], toolCall('call-1', 'ask_colour')])
  const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [tool] }], env: cors })
  const chat = `${server.url}/api/chat`
  const send = (body: object) => (init: RequestInit) => fetch(chat, { method: 'POST', body: JSON.stringify(body), ...init, headers: { 'content-type': 'application/json', ...init.headers } })
  const requests: ReadonlyArray<readonly [what: string, status: number, send: (init: RequestInit) => Promise<Response>]> = [
    ['a stream', 200, send({ id: 'cross-origin', text: 'Hi' })],
    ['a stateless stream', 200, send({ text: 'Hi' })],
    ['nothing to resume', 204, (init) => fetch(`${chat}/cross-origin/stream`, init)],
    ['an unknown agent', 404, send({ id: 'cross-origin-2', agentId: 'nobody', text: 'Hi' })],
    ['a bad body', 400, send({ id: 'cross-origin', text: '' })],
    ['no body', 400, (init) => fetch(chat, { method: 'POST', ...init })],
    ['an unknown route', 404, (init) => fetch(`${server.url}/nowhere`, init)],
    ['JSON', 200, (init) => fetch(`${server.url}/v1/threads`, init)]
  ]
  for (const [what, status, ask] of requests) {
    const reply = await ask({ headers: { origin: allowed } })
    t.equal(reply.status, status, what)
    t.equal(reply.headers.get('access-control-allow-origin'), allowed, what)
    t.match(reply.headers.get('vary'), /Origin/i, what)
    t.match(reply.headers.get('access-control-expose-headers'), /x-thread-id.*x-run-id/, what)
    await reply.body?.cancel()

    const foreign = await ask({ headers: { origin: 'https://evil.example' } })
    t.equal(foreign.headers.get('access-control-allow-origin'), null, `${what} to another origin`)
    t.match(foreign.headers.get('vary'), /Origin/i, `${what} to another origin`)
    await foreign.body?.cancel()
  }
})

t.test('a preflight of an allowed origin is granted, of another it is not', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Hello']]), env: cors })
  const preflight = (origin: string) => fetch(`${server.url}/api/chat`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  })
  const granted = await preflight(allowed)
  t.equal(granted.status, 204)
  t.equal(granted.headers.get('access-control-allow-origin'), allowed)
  t.match(granted.headers.get('access-control-allow-methods'), /POST/)
  t.match(granted.headers.get('access-control-allow-headers'), /content-type/)
  t.equal((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null)
})

t.test('nothing compresses or holds back a slow answer', async (t) => {
  const gate = createGate()
  const server = await startApp(t, { model: scriptedModel([['first', { until: gate.opened }, ' last']]) })
  const body = JSON.stringify({ id: 'slow-answer', text: 'Hi' })
  // Not fetch, which asks for compression by itself and undoes it.
  const { headers, text } = await new Promise<{ headers: NodeJS.Dict<string | string[]>, text: string }>((resolve, reject) => {
    let text = ''
    const req = request(`${server.url}/api/chat`, { method: 'POST', headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip, br', accept: '*/*' } }, (res) => {
      res.setEncoding('utf8')
      res.on('data', (piece: string) => {
        text += piece
        if (text.includes('"first"')) gate.open() // the answer ends only once its beginning was seen
      })
      res.on('end', () => { resolve({ headers: res.headers, text }) })
    })
    req.on('error', reject)
    req.end(body)
  })
  t.equal(headers['content-encoding'], undefined)
  t.match(text, /"first"[^]*" last"[^]*\[DONE\]/)
})

t.test('the headers of a stream arrive while the model still thinks', async (t) => {
  const server = await startApp(t, { model: scriptedModel([[{ hang: true }]]) })
  const leave = new AbortController()
  const reply = await fetch(`${server.url}/api/chat`, { method: 'POST', body: JSON.stringify({ id: 'still-thinking', text: 'Hi' }), headers: { 'content-type': 'application/json' }, signal: leave.signal })
  t.equal(reply.status, 200)
  leave.abort()
})

t.test('a silent stream is kept alive by comments only', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Once', { waitMs: 700 }, ' more']]), env: { HEARTBEAT_MS: '100' } })
  const reply = await post(`${server.url}/api/chat`, { id: 'silent-thread', text: 'Hi' })
  const beats = reply.body.split('\n\n').filter((frame) => frame === ': keep-alive').length
  t.ok(beats >= 3, `${beats} beats`)
  t.equal(textIn(reply), 'Once more')
  t.ok(reply.body.split('\n\n').every((frame) => frame === '' || frame.startsWith('data: ') || frame === ': keep-alive' || frame === ': stream-open'))
})
