import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { getJson, post, startApp } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { refused, send } from './request.ts'

const thread = '/v1/threads/thread-known'
const levels = 100_000
/** JSON of lists in lists, around a value. */
const nested = (depth: number, core = '1') => `${'['.repeat(depth)}${core}${']'.repeat(depth)}`

t.test('a body nested so deep that code after it would fail is refused, and nothing is written', async (t) => {
  const { url } = await world(t)
  const before = await getJson(`${url}${thread}/messages`)
  const deep = nested(levels)
  const bodies = [
    ['POST', '/v1/threads', `{"metadata":{"a":${deep}}}`],
    ['PATCH', thread, `{"metadata":{"a":${deep}}}`],
    ['POST', `${thread}/messages`, `{"text":"x","metadata":{"a":${deep}}}`],
    ['POST', `${thread}/messages`, `{"messages":[{"role":"user","parts":[${deep}]}]}`],
    ['POST', `${thread}/messages`, `{"messages":[{"role":"user","parts":[{"type":"text","text":"x","extra":${deep}}]}]}`],
    ['POST', `${thread}/messages`, `{"message":{"id":"m-1","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"output-available","output":${deep}}]}}`],
    ['POST', '/api/chat', `{"id":"thread-known","messages":${deep}}`],
    ['POST', '/v1/agents/tester/run', `{"input":"x","responseFormat":{"a":${deep}}}`],
    ['POST', '/v1/agents/tester/run', `{"messages":[{"role":"assistant","parts":[{"type":"tool","output":${deep}}]},{"role":"user","content":"x"}]}`],
    ['POST', '/v1/threads', '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)],
    ['POST', '/v1/threads', deep]
  ] as const
  for (const [method, path, raw] of bodies) refused(t, await send(url, method, path, { raw }), { status: 400, code: 'invalid_request', path: 'body' }, `${method} ${path} ${raw.slice(0, 80)}`)
  t.strictSame(await getJson(`${url}${thread}/messages`), before)
})

t.test('a body as deep as any client needs is taken, and comes back as it was', async (t) => {
  const { url } = await world(t)
  const metadata = { a: JSON.parse(nested(100)) }
  t.strictSame((await send(url, 'PATCH', thread, { body: { metadata } })).json.metadata, metadata)
  t.strictSame((await getJson(`${url}/v1/threads`)).items[0].metadata, metadata)
})

t.test('a tool that answers, or is called, with endless nesting does not end the service', async (t) => {
  let deep: unknown = 1
  for (let n = 0; n < levels; n++) deep = [deep]
  const digger = defineTool({ name: 'dig', description: 'Digs.', input: z.looseObject({}), execute: async () => deep })
  const model = scriptedModel([toolCall('c1', 'dig', {}), ['Done'], toolCall('c2', 'dig', `{"a":${nested(levels)}}`), ['Done again']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [digger] }] })
  for (const text of ['Done', 'Done again']) {
    const reply = await post(`${url}${thread}/messages`, { text: 'Dig' })
    t.match(reply.body, text)
    t.match(reply.chunks.at(-1), { type: 'finish' })
  }
  const { items } = await getJson(`${url}${thread}/messages`)
  t.match(JSON.stringify(items), 'Too deep')
  t.equal(items.length, 4)
})

t.test('a tool is called without keys that reach a prototype', async (t) => {
  const seen: unknown[] = []
  const look = defineTool({ name: 'look', description: 'Looks.', input: z.looseObject({}), execute: async (input: Record<string, unknown>) => { seen.push(input['isAdmin'], Object.keys(input), ({} as Record<string, unknown>)['isAdmin']); return 'ok' } })
  const model = scriptedModel([toolCall('c1', 'look', '{"__proto__":{"isAdmin":true},"a":1}'), ['Done']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [look] }] })
  t.match((await post(`${url}${thread}/messages`, { text: 'Look' })).body, 'Done')
  t.strictSame(seen, [undefined, ['a'], undefined])
})

t.test('a message holds so many parts and a refusal so many issues', async (t) => {
  const { url } = await world(t)
  const parts = (count: number, part: unknown) => ({ message: { role: 'user', parts: Array.from({ length: count }, () => part) } })
  refused(t, await send(url, 'POST', `${thread}/messages`, { body: parts(1_001, { type: 'text', text: 'x' }) }), { status: 400, code: 'invalid_request', path: 'message.parts' }, 'too many')
  const wrong = await send(url, 'POST', `${thread}/messages`, { body: parts(1_000, 1) })
  refused(t, wrong, { status: 400, code: 'invalid_request', path: 'message.parts.0' }, 'all wrong')
  t.equal(wrong.json.details.issues.length, 100)
  t.equal((await post(`${url}${thread}/messages`, parts(1_000, { type: 'text', text: 'x' }))).status, 200)
  refused(t, await send(url, 'POST', '/v1/agents/tester/run', { body: { messages: Array.from({ length: 1_001 }, () => ({ role: 'user', content: 'x' })) } }), { status: 400, code: 'invalid_request', path: 'messages' }, 'too many messages')
})

t.test('fields that are not a client\'s to set are not stored', async (t) => {
  const { url } = await world(t)
  const theirs = { tenantId: 'other', ownerId: 'other', userId: 'other', key: 'k', headId: 'h', messageCount: 99, createdAt: '2001-01-01T00:00:00.000Z', updatedAt: '2001-01-01T00:00:00.000Z', lastMessageAt: '2001-01-01T00:00:00.000Z', isAdmin: true }
  const made = (await send(url, 'POST', '/v1/threads', { body: { id: 'thread-new', title: 'T', ...theirs } })).json
  const { headId, ...patch } = theirs
  const patched = (await send(url, 'PATCH', '/v1/threads/thread-new', { body: { title: 'U', id: 'thread-else', ...patch } })).json
  for (const shown of [made, patched, await getJson(`${url}/v1/threads/thread-new`)]) {
    t.match(shown, { id: 'thread-new', messageCount: 0 })
    t.notMatch(JSON.stringify(shown), /other|2001|isAdmin|"k"/)
  }
  const forged = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hi', state: 'FORGED', providerMetadata: { a: 'FORGED' } }], metadata: { usage: 'FORGED', status: 'FORGED' }, status: 'FORGED', createdAt: 'FORGED' }
  t.equal((await post(`${url}${thread}/messages`, { message: forged, runId: 'FORGED', model: 'FORGED' })).status, 200)
  t.notMatch(JSON.stringify(await getJson(`${url}${thread}/messages`)), 'FORGED')
})

t.test('line breaks in ids, titles and file names do not become headers', async (t) => {
  const { url } = await world(t)
  const breaks = ['\r\nx-injected: 1', '\nx-injected: 1', '\u0085x-injected: 1', '\u2028x-injected: 1']
  for (const line of breaks) {
    const id = encodeURIComponent(`thread-1${line}`)
    const answers = [
      await send(url, 'GET', `/v1/threads/${id}`), await send(url, 'POST', `/v1/threads/${id}/messages`, { body: { text: 'x' } }), await send(url, 'GET', `/v1/threads/${id}/stream`),
      await send(url, 'POST', '/api/chat', { body: { id: `thread-1${line}`, text: 'x' } }), await send(url, 'POST', '/v1/threads', { body: { id: `thread-1${line}` } }),
      await send(url, 'PATCH', thread, { body: { title: `T${line}` } }),
      await send(url, 'POST', `${thread}/messages`, { body: { message: { role: 'user', parts: [{ type: 'text', text: 'x' }, { type: 'file', mediaType: `a/b${line}`, filename: `a${line}`, url: 'https://files.example.com/a' }] } } })
    ]
    for (const { headers, status } of answers) {
      t.equal(headers.get('x-injected'), null)
      t.ok(status < 500)
    }
  }
  const { title } = await getJson(`${url}${thread}`)
  t.equal(title, `T${breaks.at(-1)}`, 'a title is only ever a value in JSON')
})

t.test('headers longer than any client sends are refused in words, and the service goes on', async (t) => {
  const { url } = await world(t)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let heard = ''
  socket.on('data', (data) => { heard += String(data) })
  socket.on('error', () => {}) // the service may close before all is written
  socket.write(`GET /v1/threads HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`)
  await once(socket, 'close')
  t.match(heard, /^HTTP\/1\.1 431 /)
  t.match(JSON.parse(heard.slice(heard.indexOf('\r\n\r\n'))), { code: 'invalid_request', ref: /^[0-9a-f]{8}$/ })

  const { headers } = await post(`${url}${thread}/messages`, { text: 'x' })
  const events = `${url}/v1/runs/${headers.get('x-run-id')}/events`
  for (const id of ['9'.repeat(8_000), 'x'.repeat(8_000), '1;2', '-5', 'Infinity']) t.equal((await fetch(events, { headers: { 'last-event-id': id } })).status, 400, id.slice(0, 20))
  t.equal((await fetch(events, { headers: { 'last-event-id': '0' } })).status, 200)
})

async function world (t: Test) {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  await post(`${url}${thread}/messages`, { text: 'Hi' })
  return { url }
}
