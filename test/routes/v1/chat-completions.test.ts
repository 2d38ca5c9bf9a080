import OpenAI, { APIError, APIUserAbortError, AuthenticationError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from 'openai'
import t, { type Test } from 'tap'
import { AppError } from '../../../src/errors.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { post, startApp, until, type TestAppOptions } from '../../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptedModel, type ScriptStep } from '../../helpers/scripted-model.ts'

const question = [{ role: 'user' as const, content: 'Hi' }]
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } }

t.test('the agents that are not hidden are the models', async (t) => {
  const { client } = await start(t, [['ok']], { agents: [{ key: 'helper' }, { key: 'secret', hidden: true }, { key: 'writer' }] })
  t.strictSame((await client.models.list()).data, ['helper', 'writer'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'parley' })))
  t.match(await client.models.retrieve('writer'), { id: 'writer', object: 'model' })
  t.ok(await failureOf(client.models.retrieve('secret')) instanceof NotFoundError)
})

t.test('a streamed completion begins with a role and ends with a reason and [DONE]', async (t) => {
  const { url } = await start(t, [[{ type: 'reasoning-delta', delta: 'Hm.' }, 'Hel', 'lo']])
  const { body, headers } = await post(`${url}/v1/chat/completions`, { model: 'tester', messages: question, stream: true, stream_options: { include_usage: true } })
  t.equal(headers.get('content-type'), 'text/event-stream')
  t.equal(headers.get('x-vercel-ai-ui-message-stream'), null)
  t.ok(body.endsWith('data: [DONE]\n\n'))
  const chunks = body.split('\n\n').slice(0, -2).map((frame) => JSON.parse(frame.slice('data: '.length)))
  const [{ id, created }] = chunks
  t.match(id, /^chatcmpl-[0-9a-f-]{36}$/)
  t.ok(Math.abs(Date.now() / 1000 - created) < 60)
  const head = { id, object: 'chat.completion.chunk', created, model: 'tester' }
  const choice = (delta: object, reason: string | null = null) => ({ ...head, choices: [{ index: 0, delta, finish_reason: reason }], usage: null })
  t.strictSame(chunks, [
    choice({ role: 'assistant', content: '' }), choice({ reasoning_content: 'Hm.' }), choice({ content: 'Hel' }), choice({ content: 'lo' }), choice({}, 'stop'),
    { ...head, choices: [], usage }
  ])
})

t.test('usage is told in a stream only where it was asked for', async (t) => {
  const { url } = await start(t, [['Hello']])
  const { body } = await post(`${url}/v1/chat/completions`, { model: 'tester', messages: question, stream: true })
  t.notMatch(body, /usage/)
})

t.test('the client of OpenAI reads an answer, streamed and whole', async (t) => {
  const { client } = await start(t, [['Hel', 'lo']])
  let text = ''
  for await (const chunk of await client.chat.completions.create({ model: 'tester', messages: question, stream: true })) text += chunk.choices[0]?.delta.content ?? ''
  t.equal(text, 'Hello')
  const whole = await client.chat.completions.create({ model: 'tester', messages: question })
  t.match(whole, { object: 'chat.completion', model: 'tester', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop' }], usage })
  const stream = client.chat.completions.stream({ model: 'tester', messages: question, stream_options: { include_usage: true } })
  t.equal(await stream.finalContent(), 'Hello')
  t.match(await stream.totalUsage(), { total_tokens: 15 })
})

t.test("the agent's own tools run here: the caller sees the answer only", async (t) => {
  const lookUp = defineTool({ name: 'look_up', input: { type: 'object' }, execute: () => 'found' })
  const { client } = await start(t, [['One moment.', ...toolCall('c1', 'look_up')], ['It is there.']], { agents: [{ key: 'tester', tools: [lookUp] }] })
  const { choices: [choice] } = await client.chat.completions.create({ model: 'tester', messages: question })
  t.match(choice, { message: { content: 'One moment.\n\nIt is there.' }, finish_reason: 'stop' })
  t.equal(choice?.message.tool_calls, undefined)
})

t.test('an agent is asked by key or id, and a model that cuts says so', async (t) => {
  const { client, app } = await start(t, [['Half', { type: 'finish', reason: 'length' }]])
  const id = app.agents.find('tester')?.id ?? ''
  const { model, choices: [choice] } = await client.chat.completions.create({ model: id, messages: question })
  t.equal(model, 'tester')
  t.equal(choice?.finish_reason, 'length')
})

t.test('what the caller instructs comes after what the agent is, marked as the caller\'s', async (t) => {
  const { client, model } = await start(t, [['ok']], { agents: [{ key: 'tester', instructions: 'You are the agent.' }] })
  await client.chat.completions.create({
    model: 'tester',
    messages: [
      { role: 'system', content: 'Speak French.' }, { role: 'user', content: [{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }, { id: 'c2', type: 'function', function: { name: 'look', arguments: 'broken' } }] },
      { role: 'tool', tool_call_id: 'c2', content: 'second' }, { role: 'tool', tool_call_id: 'c1', content: 'first' },
      { role: 'assistant', content: 'Seen.' }, { role: 'developer', content: 'Be brief.' }, { role: 'user', content: 'And?' }
    ]
  })
  const [request] = model.requests
  t.match(request?.instructions, /^You are the agent\.[^]*caller[^]*<caller_instructions>\nSpeak French\.\n\nBe brief\.\n<\/caller_instructions>$/)
  t.strictSame(request?.messages, [
    { role: 'user', content: 'One\n\nTwo' },
    { role: 'assistant', text: '', toolCalls: [{ callId: 'c1', toolName: 'look', arguments: '{"a":1}' }, { callId: 'c2', toolName: 'look', arguments: '{"unreadable":"broken"}' }] },
    { role: 'tool', callId: 'c2', toolName: 'look', content: 'second' }, { role: 'tool', callId: 'c1', toolName: 'look', content: 'first' },
    { role: 'assistant', text: 'Seen.', toolCalls: [] }, { role: 'user', content: 'And?' }
  ])
  await client.chat.completions.create({ model: 'tester', messages: question })
  t.equal(model.requests[1]?.instructions, 'You are the agent.')
})

t.test('settings of the request go over those of the agent', async (t) => {
  const { client, model } = await start(t, [['ok']], { agents: [{ key: 'tester', modelSettings: { temperature: 1, topP: 0.3 } }] })
  await client.chat.completions.create({ model: 'tester', messages: question, temperature: 0, max_completion_tokens: 20, max_tokens: 9, seed: 4, stop: 'END', reasoning_effort: 'low', frequency_penalty: 0.5, presence_penalty: null, user: 'u', logit_bias: {} })
  t.strictSame(model.requests[0]?.settings, { temperature: 0, topP: 0.3, seed: 4, maxOutputTokens: 20, stop: ['END'], reasoningEffort: 'low', frequencyPenalty: 0.5 })
})

t.test('an answer of a shape is that JSON and nothing else, streamed and whole', async (t) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const script: ScriptStep[][] = [['Bonn it is.'], ['```json\n{"city":"Bonn"}\n```']]
  const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema } }
  const whole = await start(t, script)
  const { choices: [choice] } = await whole.client.chat.completions.create({ model: 'tester', messages: question, response_format: format })
  t.equal(choice?.message.content, '{"city":"Bonn"}')
  t.strictSame(whole.model.requests[0]?.responseSchema, schema)
  const streamed = await start(t, script)
  t.equal(await streamed.client.chat.completions.stream({ model: 'tester', messages: question, response_format: format }).finalContent(), '{"city":"Bonn"}')
  const any = await start(t, [['{"a":1}']])
  t.equal((await any.client.chat.completions.create({ model: 'tester', messages: question, response_format: { type: 'json_object' } })).choices[0]?.message.content, '{"a":1}')
})

t.test('what is wrong with a request is refused by its name', async (t) => {
  const { client, url, model } = await start(t, [['ok']])
  const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,' } }
  const call = { role: 'assistant' as const, tool_calls: [{ id: 'c1', type: 'function' as const, function: { name: 'f', arguments: '{}' } }] }
  for (const [body, param] of [
    [{ messages: question, tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools'],
    [{ messages: question, n: 2 }, 'n'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, image] }] }, 'messages.0.content.1'],
    [{ messages: [{ role: 'user', content: ' ' }] }, 'messages.0.content'],
    [{ messages: [{ role: 'system', content: 'Only this.' }] }, 'messages'],
    [{ messages: [...question, call] }, 'messages.1'],
    [{ messages: [...question, call, { role: 'user', content: 'And?' }] }, 'messages.2'],
    [{ messages: [...question, { role: 'tool', tool_call_id: 'c9', content: 'x' }] }, 'messages.1.tool_call_id'],
    [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages.0.role'],
    [{ messages: question, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'no such type' } } } }, 'response_format'],
    [{ messages: question, temperature: 3 }, 'temperature']
  ] as const) {
    const error = await failureOf(client.chat.completions.create({ model: 'tester', ...body } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming))
    t.ok(error instanceof BadRequestError, param)
    t.match(error, { status: 400, param, code: 'invalid_request', type: 'invalid_request_error' }, param)
  }
  t.equal(model.requests.length, 0, 'no model is asked')
  const { status, body } = await post(`${url}/v1/chat/completions`, { messages: question })
  t.equal(status, 400)
  t.match(JSON.parse(body), { error: { message: /model/, param: 'model', type: 'invalid_request_error', code: 'invalid_request' } })
  t.strictSame(Object.keys(JSON.parse(body)), ['error'])
})

t.test('errors are those that the client of OpenAI has types for', async (t) => {
  const failing = (code: 'rate_limited' | 'provider_unavailable' | 'context_overflow') => start(t, [[{ throw: new AppError(code, 'In our words.', { retryAfterMs: 60_000 }) }]])
  for (const [code, type, status] of [['rate_limited', RateLimitError, 429], ['provider_unavailable', InternalServerError, 503], ['context_overflow', BadRequestError, 400]] as const) {
    const { client } = await failing(code)
    for (const stream of [false, true]) {
      const error = await failureOf(client.chat.completions.create({ model: 'tester', messages: question, stream }))
      t.ok(error instanceof type, `${code}, ${stream ? 'streamed' : 'whole'}`)
      t.match(error, { status, code, message: /In our words/ })
    }
  }
  const { client } = await start(t, [['ok']])
  const missing = await failureOf(client.chat.completions.create({ model: 'nobody', messages: question }))
  t.ok(missing instanceof NotFoundError)
  t.match(missing, { status: 404, code: 'not_found' })
  const locked = await start(t, [['ok']], { env: { AUTH: 'jwt', AUTH_JWT_SECRET: 'a-secret-of-this-test-that-is-long-enough' } })
  const refused = await failureOf(locked.client.chat.completions.create({ model: 'tester', messages: question }))
  t.ok(refused instanceof AuthenticationError)
  t.match(refused, { status: 401, code: 'unauthenticated', type: 'authentication_error' })
})

t.test('a run that breaks while it speaks ends its stream with the error', async (t) => {
  const { client, url } = await start(t, [['Half', { throw: new AppError('provider_unavailable', 'In our words.') }]])
  const { body, status } = await post(`${url}/v1/chat/completions`, { model: 'tester', messages: question, stream: true })
  t.equal(status, 200)
  t.equal(body.split('\n\n').at(-2), 'data: {"error":{"message":"In our words.","type":"server_error","param":null,"code":"provider_unavailable"}}')
  let text = ''
  const failure = await failureOf((async () => {
    for await (const chunk of await client.chat.completions.create({ model: 'tester', messages: question, stream: true })) text += chunk.choices[0]?.delta.content ?? ''
  })())
  t.ok(failure instanceof APIError)
  t.equal(text, 'Half')
})

t.test('a caller that leaves stops the run, streamed or whole', async (t) => {
  for (const stream of [true, false]) {
    const { client, model } = await start(t, [['Hel', { hang: true }]])
    const controller = new AbortController()
    const asked = client.chat.completions.create({ model: 'tester', messages: question, stream }, { signal: controller.signal })
    if (stream) await (await asked as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
    await until('the model is asked', () => model.requests.length === 1)
    controller.abort()
    if (!stream) t.ok(await failureOf(asked) instanceof APIUserAbortError)
    await until('the model is let go', () => model.closed() === 1, 2_000)
  }
})

async function failureOf (promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => undefined, (error: unknown) => error)
}

async function start (t: Test, responses: ReadonlyArray<readonly ScriptStep[]>, options: TestAppOptions = {}): Promise<Awaited<ReturnType<typeof startApp>> & { client: OpenAI, model: ScriptedModel }> {
  const model = scriptedModel(responses)
  const started = await startApp(t, { model, ...options })
  return { ...started, model, client: new OpenAI({ baseURL: `${started.url}/v1`, apiKey: 'any', maxRetries: 0 }) }
}
