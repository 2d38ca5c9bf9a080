import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { isAppError } from '../../../src/errors.ts'
import { callModel } from '../../../src/models/call-model.ts'
import type { Model, ModelRequest } from '../../../src/models/model.ts'
import { createOpenAIChatModel } from '../../../src/models/openai-chat.ts'
import { createOpenAIClient } from '../../../src/models/openai-client.ts'
import { hear, textOf, finishOf, callsOf, eventsOf } from '../../helpers/chat-events.ts'
import { startUpstream } from '../../helpers/upstream.ts'

type Handler = (body: Record<string, unknown>, request: IncomingMessage, response: ServerResponse) => void

const request: ModelRequest = { instructions: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }], tools: [], toolChoice: 'auto', settings: {} }
const tool = { name: 'f', description: 'does f', parameters: { type: 'object', properties: { n: { type: 'number' } } } }
const live = () => ({ signal: new AbortController().signal })

t.test('a request is written in the words of chat completions', async (t) => {
  const { model, bodies } = await provider(t, answerWith('ok'))
  await hear(model.generate({
    instructions: 'Be brief.',
    messages: [
      { role: 'user', content: 'one' },
      { role: 'assistant', text: '', toolCalls: [] },
      { role: 'assistant', text: '', toolCalls: [{ callId: 'c1', toolName: 'no such.tool', arguments: '{"n":1}' }] },
      { role: 'tool', callId: 'c1', toolName: 'no such.tool', content: 'result' },
      { role: 'assistant', text: 'two', toolCalls: [] },
      { role: 'user', content: 'three' }
    ],
    tools: [tool],
    toolChoice: { tool: 'f' },
    settings: { temperature: 0, topP: 0.5, maxOutputTokens: 9, reasoningEffort: 'low', seed: 0, stop: ['x'], frequencyPenalty: 1, presencePenalty: 2 }
  }, live()))
  t.strictSame(bodies, [{
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'no_such_tool', arguments: '{"n":1}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'result' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' }
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: 'function', function: tool }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    temperature: 0,
    top_p: 0.5,
    max_tokens: 9,
    reasoning_effort: 'low',
    seed: 0,
    stop: ['x'],
    frequency_penalty: 1,
    presence_penalty: 2
  }])
})

t.test('what a request does not say is not sent', async (t) => {
  const { model, bodies } = await provider(t, answerWith('ok'))
  await hear(model.generate({ ...request, instructions: '', toolChoice: 'required' }, live()))
  t.strictSame(bodies, [{ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true, stream_options: { include_usage: true } }])
})

t.test('a key is sent as a bearer token, and no header at all where there is none', async (t) => {
  const headers: IncomingMessage['headers'][] = []
  const { baseURL } = await startUpstream(t, (incoming, response) => {
    headers.push(incoming.headers)
    answerWith('ok')({}, incoming, response)
  })
  for (const apiKey of ['secret', undefined]) {
    const client = createOpenAIClient({ baseURL, apiKey, headers: { 'x-extra': 'yes' } })
    await hear(createOpenAIChatModel({ id: 'test:m', modelName: 'm', client }).generate(request, live()))
  }
  t.match(headers, [{ authorization: 'Bearer secret', 'x-extra': 'yes' }, { 'x-extra': 'yes' }])
  t.notOk('authorization' in (headers[1] ?? {}))
})

t.test('a schema is sent as json_schema, strict where the schema allows it', async (t) => {
  const { model, bodies } = await provider(t, answerWith('{}'))
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  await hear(model.generate({ ...request, responseSchema: closed }, live()))
  await hear(model.generate({ ...request, responseSchema: { ...closed, required: [] } }, live()))
  t.match(bodies.map((body) => body.response_format), [
    { type: 'json_schema', json_schema: { name: 'answer', schema: closed, strict: true } },
    { type: 'json_schema', json_schema: { strict: false } }
  ])
})

t.test('a server that refuses a part of a request is asked without it, from then on at once', async (t) => {
  const simplified: unknown[] = []
  const { model, bodies } = await provider(t, (body, incoming, response) => {
    if (body.stream_options !== undefined) return refuse(response, 422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] })
    const format = (body.response_format as { type?: string } | undefined)?.type
    if (format !== undefined) return refuse(response, 400, { error: { message: `response_format ${format} is not supported` } })
    answerWith('{}')(body, incoming, response)
  }, (dialect) => simplified.push(dialect))
  const schema = { type: 'object' }
  t.equal(textOf((await hear(model.generate({ ...request, responseSchema: schema }, live()))).events), '{}')
  t.equal(bodies.length, 4, 'everything, without stream_options, json_object, in words')
  t.match((bodies[3]?.messages as unknown[])[0], { role: 'system', content: /JSON Schema: {"type":"object"}$/ })
  t.equal(textOf((await hear(model.generate(request, live()))).events), '{}')
  t.equal(bodies.length, 5)
  t.equal(simplified.length, 3)
})

t.test('a refusal of something else is not tried again', async (t) => {
  const { model, bodies } = await provider(t, (_body, _incoming, response) => { refuse(response, 400, { error: { message: 'bad temperature', param: 'temperature' } }) })
  t.match((await hear(model.generate(request, live()))).error, { code: 'configuration_error' })
  t.equal(bodies.length, 1)
})

const secret = 'sk-test-SECRETSECRET'
const failures = [
  { status: 401, body: { error: { message: `Incorrect key: ${secret}`, code: 'invalid_api_key' } }, code: 'configuration_error' },
  { status: 403, body: { error: { message: secret } }, code: 'configuration_error' },
  { status: 404, body: { error: { message: `no model ${secret}`, code: 'model_not_found' } }, code: 'configuration_error' },
  { status: 404, body: { detail: secret }, code: 'configuration_error' },
  { status: 404, body: `<html>${secret}</html>`, code: 'provider_unavailable' },
  { status: 408, body: '', code: 'provider_timeout' },
  { status: 429, body: { error: { message: secret } }, code: 'rate_limited' },
  { status: 429, body: { error: { message: secret, type: 'insufficient_quota', code: 'insufficient_quota' } }, code: 'configuration_error' },
  { status: 400, body: { error: { message: secret, code: 'context_length_exceeded' } }, code: 'context_overflow' },
  { status: 400, body: { error: { message: `This model's maximum context length is 8192 tokens. ${secret}` } }, code: 'context_overflow' },
  { status: 400, body: { error: { message: `prompt is too long: 210000 tokens > 200000 maximum ${secret}` } }, code: 'context_overflow' },
  { status: 413, body: '', code: 'context_overflow' },
  { status: 400, body: { error: { message: secret, code: 'content_filter' } }, code: 'content_filtered' },
  { status: 400, body: { error: { message: secret, innererror: { code: 'ResponsibleAIPolicyViolation' } } }, code: 'content_filtered' },
  { status: 400, body: { error: { message: `about "temperature" ${secret}` } }, code: 'configuration_error' },
  { status: 302, body: '', code: 'configuration_error', headers: { location: 'http://127.0.0.1:1/' } },
  { status: 500, body: { error: { message: secret } }, code: 'provider_unavailable' },
  { status: 502, body: `<html>${secret}</html>`, code: 'provider_unavailable' },
  { status: 503, body: secret.repeat(20_000), code: 'provider_unavailable' },
  { status: 529, body: { error: { type: 'overloaded_error' } }, code: 'provider_unavailable' }
]

t.test('each upstream failure has its code, and nothing that the upstream wrote', async (t) => {
  for (const { status, body, code, headers = {} } of failures) {
    const { baseURL } = await startUpstream(t, (_incoming, response) => {
      response.writeHead(status, { ...headers, 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    const { error } = await hear(modelAt(baseURL).generate(request, live()))
    t.match(error, { code }, `${status} ${JSON.stringify(body).slice(0, 80)}`)
    t.notMatch(shown(error), /SECRETSECRET|<html/)
  }
})

t.test('how long to wait is told in seconds, milliseconds or as a date', async (t) => {
  for (const [name, value, least, most] of [['retry-after', '2', 2_000, 2_000], ['retry-after-ms', '150.5', 150.5, 150.5], ['retry-after', new Date(Date.now() + 10_000).toUTCString(), 7_000, 10_000], ['retry-after', 'soon', undefined, undefined]] as const) {
    const { baseURL } = await startUpstream(t, (_incoming, response) => { response.writeHead(429, { [name]: value }).end() })
    const { error } = await hear(modelAt(baseURL).generate(request, live()))
    const { retryAfterMs } = error as { retryAfterMs?: number }
    if (least === undefined || retryAfterMs === undefined) t.equal(retryAfterMs, least)
    else t.ok(retryAfterMs >= least && retryAfterMs <= most, String(retryAfterMs))
  }
})

t.test('a server that is not there is provider_unavailable', async (t) => {
  const { error } = await hear(modelAt('http://127.0.0.1:1/v1').generate(request, live()))
  t.match(error, { code: 'provider_unavailable', cause: { code: 'ECONNREFUSED' } })
})

t.test('an abort closes the connection and throws its reason, before the answer and in it', async (t) => {
  const reason = new Error('enough')
  for (const begun of [false, true]) {
    let reached: () => void = () => {}
    const arrived = new Promise<void>((resolve) => { reached = resolve })
    let closed: Promise<unknown> = Promise.resolve()
    const { baseURL } = await startUpstream(t, (incoming, response) => {
      closed = once(response, 'close')
      incoming.resume()
      if (begun) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Hi' }))
      reached()
    })
    const controller = new AbortController()
    const heard = hear(modelAt(baseURL).generate(request, { signal: controller.signal }))
    await arrived
    setTimeout(() => { controller.abort(reason) }, 20)
    const { events, error } = await heard
    t.equal(error, reason)
    t.equal(textOf(events), begun ? 'Hi' : '')
    await closed
  }
})

t.test('a reader that leaves closes the connection', async (t) => {
  let closed: Promise<unknown> = Promise.resolve()
  const { baseURL } = await startUpstream(t, (incoming, response) => {
    closed = once(response, 'close')
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Hi' }))
  })
  const iterator = modelAt(baseURL).generate(request, live())[Symbol.asyncIterator]()
  t.match(await iterator.next(), { value: [{ delta: 'Hi' }] })
  await iterator.return?.()
  await closed
})

t.test('a finished answer leaves its connection to the next call', async (t) => {
  const sockets = new Set<unknown>()
  const { model } = await provider(t, (body, incoming, response) => {
    sockets.add(incoming.socket)
    answerWith('ok')(body, incoming, response)
  })
  for (let call = 0; call < 3; call++) {
    t.equal(textOf((await hear(model.generate(request, live()))).events), 'ok')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.equal(sockets.size, 1)
})

t.test('an answer that has its finish reason is whole, though the connection breaks or stays open', async (t) => {
  for (const after of ['reset', 'open'] as const) {
    const { baseURL } = await startUpstream(t, (incoming, response) => {
      incoming.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Hi' }) + chunk({}, 'stop'))
      if (after === 'reset') setTimeout(() => { response.socket?.resetAndDestroy() }, 20)
    })
    const { events, error } = await hear(modelAt(baseURL).generate(request, live()))
    t.equal(error, undefined, after)
    t.equal(textOf(events), 'Hi')
    t.equal(finishOf(events), 'stop')
    t.match(eventsOf(events, 'usage'), [{ estimated: true }])
  }
})

t.test('a call whose connection breaks comes out incomplete before the error', async (t) => {
  const { baseURL } = await startUpstream(t, (incoming, response) => {
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } }] }))
    setTimeout(() => { response.socket?.resetAndDestroy() }, 20)
  })
  const { events, error } = await hear(modelAt(baseURL).generate(request, live()))
  t.strictSame(callsOf(events), [{ id: 'a', name: 'f', arguments: '{"n":1}', complete: false }])
  t.match(error, { code: 'provider_unavailable' })
})

t.test('comments that keep a connection alive are no life of the model', async (t) => {
  const { baseURL } = await startUpstream(t, (incoming, response) => {
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Half' }))
    const beat = setInterval(() => { response.write(': keepalive\n\n') }, 10)
    response.on('close', () => { clearInterval(beat) })
  })
  const { events, error } = await hear(callModel(modelAt(baseURL), request, { ...live(), timeouts: { firstTokenMs: 5_000, idleMs: 60 } }))
  t.equal(textOf(events), 'Half')
  t.match(error, { code: 'provider_timeout' })
})

t.test('what arrives in one piece is one batch', async (t) => {
  const { baseURL } = await startUpstream(t, (incoming, response) => {
    incoming.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chunk({ content: 'a' }) + chunk({ content: 'b' }) + chunk({}, 'stop') + 'data: [DONE]\n\n')
  })
  const batches = []
  for await (const batch of callModel(modelAt(baseURL), request, { ...live(), timeouts: { firstTokenMs: 5_000, idleMs: 5_000 } })) batches.push(batch.map(({ type }) => type))
  t.strictSame(batches, [['text-delta', 'text-delta', 'usage', 'finish']])
})

async function provider (t: Test, handler: Handler, onSimplified?: (dialect: unknown) => void): Promise<{ model: Model, bodies: Array<Record<string, unknown>> }> {
  const bodies: Array<Record<string, unknown>> = []
  const { baseURL } = await startUpstream(t, async (incoming, response) => {
    let text = ''
    for await (const piece of incoming) text += String(piece)
    const body = JSON.parse(text) as Record<string, unknown>
    bodies.push(body)
    handler(body, incoming, response)
  })
  return { model: createOpenAIChatModel({ id: 'test:m', modelName: 'm', client: createOpenAIClient({ baseURL, apiKey: 'k' }), onSimplified }), bodies }
}

function modelAt (baseURL: string): Model {
  return createOpenAIChatModel({ id: 'test:m', modelName: 'm', client: createOpenAIClient({ baseURL, apiKey: 'k' }) })
}

function answerWith (content: string): Handler {
  return (_body, _incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ content }))
    response.end(chunk({}, 'stop') + 'data: [DONE]\n\n')
  }
}

function refuse (response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function chunk (delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
}

function shown (error: unknown): string {
  if (!isAppError(error)) return String(error)
  const cause = error.cause instanceof Error ? { ...error.cause, message: error.cause.message, stack: error.cause.stack } : error.cause
  return JSON.stringify({ ...error, message: error.message, stack: error.stack, cause })
}
