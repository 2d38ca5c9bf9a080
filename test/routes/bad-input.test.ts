import { request } from 'node:http'
import t, { type Test } from 'tap'
import { scriptedModel } from '../helpers/scripted-model.ts'
import { getJson, post, startApp } from '../helpers/app.ts'
import { refused, send } from './request.ts'

const threadId = 'thread-known'
const unknown = 'thread-unknown'
const nobody = '00000000-0000-7000-8000-000000000000'
const proto = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"polluted":1}}}'

/** Routes that read a body, with one that they accept. */
const bodies = [
  { method: 'POST', path: '/v1/threads', good: { title: 'T' } },
  { method: 'PATCH', path: `/v1/threads/${threadId}`, good: { title: 'T' } },
  { method: 'POST', path: `/v1/threads/${threadId}/messages`, good: { text: 'x' } },
  { method: 'PUT', path: `/v1/threads/${threadId}/messages/:answer/rating`, good: { rating: 1 } },
  { method: 'POST', path: '/v1/agents/tester/run', good: { input: 'x' } },
  { method: 'POST', path: '/api/chat', good: { id: threadId, messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }] } }
]

for (const { method, path, good } of bodies) {
  t.test(`${method} ${path} refuses every body it cannot read, and writes nothing`, async (t) => {
    const { url, answerId, snapshot } = await world(t)
    const route = path.replace(':answer', answerId)
    const before = await snapshot()
    const unreadable = [
      { what: 'malformed JSON', raw: '{"text":' },
      { what: 'empty', raw: '', contentType: 'application/json' },
      { what: 'blank', raw: '   ', contentType: 'application/json' },
      { what: 'not JSON by name', raw: JSON.stringify(good), contentType: 'text/plain' },
      { what: 'a form', raw: 'title=T', contentType: 'application/x-www-form-urlencoded' },
      { what: 'XML', raw: '<a/>', contentType: 'application/xml' },
      { what: 'a nonsense content type', raw: JSON.stringify(good), contentType: 'nonsense' },
      { what: 'a prototype', raw: proto },
      { what: 'a prototype deep inside', raw: `{"metadata":{"a":[${proto}]}}` },
      { what: 'null', raw: 'null' },
      { what: 'an array', raw: '[]' },
      { what: 'a string', raw: '"x"' },
      { what: 'a number', raw: '1' }
    ]
    for (const { what, raw, contentType } of unreadable) {
      refused(t, await send(url, method, route, { raw, contentType }), { status: 400, code: 'invalid_request', path: 'body' }, what)
    }
    refused(t, await send(url, method, route), { status: 400, code: 'invalid_request', path: 'body' }, 'nothing at all')
    refused(t, await send(url, method, route, { body: { ...good, filler: 'x'.repeat(5_000) } }), { status: 413, code: 'payload_too_large' }, 'too large')
    t.strictSame(await snapshot(), before, 'nothing is half-written')
    t.equal(({} as Record<string, unknown>)['isAdmin'], undefined)
    t.ok((await send(url, method, route, { body: good })).status < 300, 'and it takes a good one')
  })
}

const user = (fields: object = {}) => ({ role: 'user', parts: [{ type: 'text', text: 'x' }], ...fields })
const fields: ReadonlyArray<{ readonly method: string, readonly path: string, readonly body: unknown, readonly field: string }> = [
  ...Object.entries({ title: [1, '', '   ', 'x'.repeat(201), {}], id: [1, 'short', 'with space', 'ünïcode-id', 'x'.repeat(65), '../../etc'], agentId: [1, 'nobody', '__proto__', 'constructor'], metadata: [1, 'x', [], null] })
    .flatMap(([field, values]) => values.map((value) => ({ method: 'POST', path: '/v1/threads', body: { [field]: value }, field }))),
  ...Object.entries({ title: [1, '', 'x'.repeat(201)], agentId: [1, 'nobody', null], metadata: [1, null], archived: ['true', 1, null], headId: [1, null] })
    .flatMap(([field, values]) => values.map((value) => ({ method: 'PATCH', path: `/v1/threads/${threadId}`, body: { [field]: value }, field }))),
  ...Object.entries({ rating: [0, 2, '1', null, true, undefined], comment: [1, 'x'.repeat(2_001), {}] })
    .flatMap(([field, values]) => values.map((value) => ({ method: 'PUT', path: `/v1/threads/${threadId}/messages/:answer/rating`, body: { rating: 1, [field]: value }, field }))),
  ...['/api/chat', `/v1/threads/${threadId}/messages`].flatMap((path) => [
    { body: {}, field: 'messages' },
    { body: { messages: [] }, field: 'messages' },
    { body: { messages: 'x' }, field: 'messages' },
    { body: { messages: [null] }, field: 'messages.0' },
    { body: { messages: ['x'] }, field: 'messages.0' },
    { body: { messages: [{ role: 'user' }] }, field: 'messages.0.parts' },
    { body: { messages: [user({ parts: [] })] }, field: 'messages.0.parts' },
    { body: { messages: [user({ parts: 'x' })] }, field: 'messages.0.parts' },
    { body: { messages: [user({ parts: [{ type: 'text' }] })] }, field: 'messages.0.parts.0.text' },
    { body: { messages: [user({ parts: [{ type: 'text', text: 'x' }, { type: 'text', text: 1 }] })] }, field: 'messages.0.parts.1.text' },
    { body: { messages: [user({ parts: [{ type: 'text', text: '  ' }] })] }, field: 'messages.0.parts' },
    { body: { messages: [user({ parts: [{ type: 'tool-x', output: 1 }] })] }, field: 'messages.0.parts.0.type' },
    { body: { messages: [user({ parts: [{ type: 'file', mediaType: 'a/b', url: 'file:///etc/passwd' }] })] }, field: 'messages.0.parts.0.url' },
    { body: { messages: [user({ id: 1 })] }, field: 'messages.0.id' },
    { body: { messages: [user({ id: 'with space' })] }, field: 'messages.0.id' },
    { body: { messages: [user({ id: 'x'.repeat(129) })] }, field: 'messages.0.id' },
    { body: { messages: [user({ role: 'system' })] }, field: 'messages.0.role' },
    { body: { messages: [user({ role: 'tool' })] }, field: 'messages.0.role' },
    { body: { messages: [user({ role: 1 })] }, field: 'messages.0.role' },
    { body: { messages: [user({ role: 'assistant' })] }, field: 'messages.0.id' },
    { body: { messages: [user({ role: 'assistant', id: 'm-1' })] }, field: 'messages.0.parts' },
    { body: { message: 1 }, field: 'message' },
    { body: { message: user({ parts: undefined }) }, field: 'message.parts' },
    { body: { text: 1 }, field: 'text' },
    { body: { text: '' }, field: 'text' },
    { body: { text: 'x', messages: [user()] }, field: 'text' },
    { body: { text: 'x', message: user() }, field: 'text' },
    { body: { text: 'x', metadata: 'x' }, field: 'metadata' },
    { body: { text: 'x', agentId: 1 }, field: 'agentId' },
    { body: { text: 'x', messageId: 1 }, field: 'messageId' },
    { body: { text: 'x', trigger: 'explode' }, field: 'trigger' }
  ].map(({ body, field }) => ({ method: 'POST', path, body: path === '/api/chat' ? { id: threadId, ...body } : body, field }))),
  { method: 'POST', path: '/api/chat', body: { id: 1, text: 'x' }, field: 'id' },
  { method: 'POST', path: '/api/chat', body: { id: 'short', text: 'x' }, field: 'id' },
  { method: 'POST', path: '/api/chat', body: { id: '日本語日本語日本語', text: 'x' }, field: 'id' },
  { method: 'POST', path: '/api/chat', body: { messages: [user({ role: 'assistant', parts: [{ type: 'text', text: 'x' }] })], id: undefined, text: undefined }, field: 'messages.0.id' },
  ...[
    { body: {}, field: 'input' },
    { body: { input: 1 }, field: 'input' },
    { body: { input: '' }, field: 'input' },
    { body: { input: 'x', messages: [user()] }, field: 'input' },
    { body: { messages: [] }, field: 'messages' },
    { body: { messages: [1] }, field: 'messages.0' },
    { body: { messages: [user({ role: 'system' })] }, field: 'messages.0.role' },
    { body: { messages: [{ role: 'user' }] }, field: 'messages.0' },
    { body: { messages: [{ role: 'user', content: 1 }] }, field: 'messages.0.content' },
    { body: { messages: [{ role: 'user', content: 'x' }, { role: 'assistant', content: 'y' }] }, field: 'messages' },
    { body: { input: 'x', tools: 'yes' }, field: 'tools' },
    { body: { input: 'x', threadId: 'short' }, field: 'threadId' },
    { body: { input: 'x', metadata: [] }, field: 'metadata' },
    { body: { input: 'x', responseFormat: 'json' }, field: 'responseFormat' },
    { body: { input: 'x', responseFormat: { type: 'no-such-type' } }, field: 'responseFormat' },
    { body: { input: 'x', responseFormat: { type: 'object', properties: 1 } }, field: 'responseFormat' },
    { body: { input: 'x', responseFormat: { $ref: '#/nowhere' } }, field: 'responseFormat' }
  ].map(({ body, field }) => ({ method: 'POST', path: '/v1/agents/tester/run', body, field }))
]

t.test('every wrong field is named, and nothing is written', async (t) => {
  const { url, answerId, snapshot, model } = await world(t)
  const before = await snapshot()
  const asked = model.requests.length
  for (const { method, path, body, field } of fields) {
    const answer = await send(url, method, path.replace(':answer', answerId), { body })
    refused(t, answer, { status: 400, code: 'invalid_request', path: field }, `${method} ${path} ${JSON.stringify(body).slice(0, 120)}`)
  }
  t.strictSame(await snapshot(), before, 'nothing is half-written')
  t.equal(model.requests.length, asked, 'and no model is asked')
})

t.test('what does not exist is 404 on every route but those of streams, which answer 204', async (t) => {
  const { url, answerId, snapshot } = await world(t)
  const before = await snapshot()
  const message = `/v1/threads/${threadId}/messages`
  const missing = [
    ['GET', `/v1/threads/${unknown}`], ['PATCH', `/v1/threads/${unknown}`, { title: 'T' }], ['DELETE', `/v1/threads/${unknown}`],
    ['GET', `/v1/threads/${unknown}/usage`], ['GET', `/v1/threads/${unknown}/messages`], ['POST', `/v1/threads/${unknown}/stop`],
    ['GET', `/v1/threads/${unknown}/messages/${answerId}/siblings`], ['DELETE', `/v1/threads/${unknown}/messages/${answerId}`],
    ['POST', `/v1/threads/${unknown}/messages/${answerId}/restore`], ['PUT', `/v1/threads/${unknown}/messages/${answerId}/rating`, { rating: 1 }],
    ['DELETE', `/v1/threads/${unknown}/messages/${answerId}/rating`],
    ['GET', `${message}/${nobody}/siblings`], ['DELETE', `${message}/${nobody}`], ['POST', `${message}/${nobody}/restore`],
    ['PUT', `${message}/${nobody}/rating`, { rating: 1 }], ['DELETE', `${message}/${nobody}/rating`],
    ['PATCH', `/v1/threads/${threadId}`, { headId: nobody }],
    ['POST', message, { trigger: 'regenerate-message', messageId: nobody }],
    ['POST', message, { message: { id: nobody, role: 'assistant', parts: [{ type: 'tool-x', toolCallId: 'c', state: 'output-available', output: 1 }] } }],
    ['POST', `/v1/threads/${unknown}/messages`, { trigger: 'regenerate-message' }],
    ['POST', `/v1/threads/${unknown}/messages`, { text: 'x', agentId: 'nobody' }],
    ['GET', `/v1/runs/${nobody}`], ['GET', `/v1/runs/${nobody}/events`], ['POST', `/v1/runs/${nobody}/stop`],
    ['GET', '/v1/agents/nobody'], ['POST', '/v1/agents/nobody/run', { input: 'x' }], ['GET', '/v1/agents/__proto__'], ['GET', '/v1/agents/constructor'],
    ['GET', '/v1/threads/__proto__'], ['GET', '/v1/threads/constructor'], ['GET', '/v1/threads/..%2f..%2fetc%2fpasswd'],
    ['GET', '/v1/threads/%E6%97%A5%E6%9C%AC%E8%AA%9E'], ['GET', "/v1/threads/'%20OR%201=1%20--"], ['GET', `/v1/threads/${'x'.repeat(5_000)}`],
    ['DELETE', `${message}/${'x'.repeat(5_000)}`],
    ['GET', '/nowhere'], ['POST', '/v1/nowhere', {}], ['PUT', '/v1/threads', {}], ['DELETE', '/v1/agents'], ['POST', '/health', {}], ['GET', '/api/chat'], ['PATCH', '/v1/runs/x', {}]
  ] as const
  for (const [method, path, body] of missing) refused(t, await send(url, method, path, { body }), { status: 404, code: 'not_found' }, `${method} ${path.slice(0, 120)}`)
  t.strictSame(await snapshot(), before)

  for (const path of [`/v1/threads/${unknown}/stream`, `/api/chat/${unknown}/stream`, `/v1/threads/${threadId}/stream`, '/api/chat/%E6%97%A5/stream', '/v1/threads/x/stream']) {
    const answer = await send(url, 'GET', path)
    t.strictSame([answer.status, answer.text], [204, ''], path)
  }
})

t.test('a question about a page that cannot be is refused by the name of its field', async (t) => {
  const { url, answerId } = await world(t)
  const message = `/v1/threads/${threadId}/messages`
  const lists = [['/v1/threads', 'cursor'], ['/v1/agents', 'cursor'], [message, 'before'], [`${message}/${answerId}/siblings`, 'cursor']] as const
  const limits = ['0', '-1', '101', '1.5', 'x', '', '1e9', 'NaN', '0x10000', '1&limit=2']
  for (const [path] of lists) {
    for (const limit of limits) refused(t, await send(url, 'GET', `${path}?limit=${limit}`), { status: 400, code: 'invalid_request', path: 'limit' }, `${path} limit=${limit}`)
    t.equal((await send(url, 'GET', `${path}?limit=1`)).status, 200)
    t.equal((await send(url, 'GET', `${path}?limit=100`)).status, 200)
  }
  const places: unknown[] = [[], {}, 'x', null, ['a\u0000b'], ['nobody'], [1.5], [9_007_199_254_740_991], [-9_007_199_254_740_991], [99_999_999_999], [1, 'a\u0000b'], [9_007_199_254_740_991, 'x'], [1e308, 'x'], [1, 2, 3], [['a']]]
  const cursors = ['x', '%00', '日本', '-', 'x'.repeat(5_000), ...places.map((place) => Buffer.from(JSON.stringify(place)).toString('base64url'))]
  for (const [path, field] of lists) {
    for (const cursor of cursors) {
      const answer = await send(url, 'GET', `${path}?${field}=${encodeURIComponent(decodeURIComponent(cursor))}`)
      // A place that could be one shows what follows it.
      if (answer.status === 200) t.type(answer.json.items, Array)
      else refused(t, answer, { status: 400, code: 'invalid_request', path: field }, `${path} ${field}=${cursor.slice(0, 80)}`)
    }
  }
  for (const query of ['archived=1', 'archived=', 'q=', 'q=%20', `q=${'x'.repeat(201)}`]) {
    refused(t, await send(url, 'GET', `/v1/threads?${query}`), { status: 400, code: 'invalid_request', path: query.replace(/=.*/s, '') }, query)
  }
  refused(t, await send(url, 'GET', `${message}?include=everything`), { status: 400, code: 'invalid_request', path: 'include' }, 'include')
  const { headers } = await post(`${url}${message}`, { text: 'x' })
  for (const after of ['x', '-2', '1.5']) {
    refused(t, await send(url, 'GET', `/v1/runs/${headers.get('x-run-id')}/events?after=${after}`), { status: 400, code: 'invalid_request', path: 'after' }, `after=${after}`)
  }
})

t.test('a request that is hardly HTTP gets the same kind of answer', async (t) => {
  const { url } = await world(t)
  refused(t, await send(url, 'GET', '/v1/threads/%zz'), { status: 400, code: 'invalid_request' }, 'a broken escape')
  refused(t, await send(url, 'GET', '/v1/threads/%E0%A4%A'), { status: 400, code: 'invalid_request' }, 'half a character')
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(`${url}/v1/threads`, { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': '100000' } }, (response) => { resolve(response.statusCode) }).on('error', reject).end('{}')
  })
  t.equal(status, 413, 'a size that is announced is refused before it comes')
})

t.test('routes without a body take none, and an empty one', async (t) => {
  const { url, answerId, runId } = await world(t)
  for (const path of [`/v1/threads/${threadId}/stop`, `/v1/threads/${threadId}/messages/${answerId}/restore`, `/v1/runs/${runId}/stop`]) {
    t.equal((await send(url, 'POST', path)).status, 200, path)
    t.equal((await send(url, 'POST', path, { body: {} })).status, 200, path)
    t.equal((await send(url, 'POST', path, { raw: '', contentType: 'application/json' })).status, 200, `${path}, with the name of JSON and none of it`)
    refused(t, await send(url, 'POST', path, { raw: '{' }), { status: 400, code: 'invalid_request', path: 'body' }, path)
  }
  t.equal((await send(url, 'DELETE', `/v1/threads/${threadId}`, { raw: '', contentType: 'application/json' })).status, 204, 'nor is a DELETE refused for it')
})

/** A service with one thread, `snapshot` being all that is stored. */
async function world (t: Test) {
  const model = scriptedModel([['Hello']])
  const { url } = await startApp(t, { model, env: { MAX_BODY_BYTES: '4096' } })
  const reply = await post(`${url}/v1/threads/${threadId}/messages`, { text: 'Hi' })
  const snapshot = async () => [await getJson(`${url}/v1/threads`), await getJson(`${url}/v1/threads/${threadId}/messages`)]
  const answerId = String(reply.chunks[0]?.['messageId'])
  return { url, model, snapshot, answerId, runId: reply.headers.get('x-run-id') }
}
