import type { IncomingMessage, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import type { Model, ModelEvent, ModelRequest } from '../../../src/models/model.ts'
import { createOpenAIClient } from '../../../src/models/openai-client.ts'
import { createOpenAIResponsesModel } from '../../../src/models/openai-responses.ts'
import { callsOf, eventsOf, finishOf, hear, textOf, type Heard } from '../../helpers/chat-events.ts'
import { responseBytes } from '../../helpers/responses.ts'
import { startUpstream } from '../../helpers/upstream.ts'

const plain: ModelRequest = { instructions: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }], tools: [], toolChoice: 'auto', settings: {} }
const weather = { name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: { city: { type: 'string' } } } }
const usage = { input_tokens: 10, output_tokens: 4, input_tokens_details: { cached_tokens: 2 }, output_tokens_details: { reasoning_tokens: 1 } }
const completed = { type: 'response.completed', response: { status: 'completed', output: [], usage } }
const said = (text: string) => [
  { type: 'response.output_item.added', output_index: 0, item: { id: 'msg_1', type: 'message', content: [] } },
  { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: text }
]

type Event = Readonly<Record<string, unknown>>
type Answer = readonly Event[] | { readonly status: number, readonly error: Event } | { readonly json: Event }

t.test('a conversation is told in items, with nothing stored at the provider', async (t) => {
  const { model, bodies } = await startModel(t, [[...said('ok'), completed]])
  const key = { model: 'test:m', itemId: 'rs_1', encryptedContent: 'SEALED' }
  await ask(model, {
    ...plain,
    messages: [
      { role: 'user', content: 'Weather in Bonn?' },
      { role: 'assistant', text: 'Let me see.', reasoning: [{ ...key, text: 'A city.' }, { ...key, model: 'test:other', text: 'x' }], toolCalls: [{ callId: 'c1', toolName: 'weather', arguments: '{"city":"Bonn"}' }] },
      { role: 'tool', callId: 'c1', toolName: 'weather', content: 'Sun.' },
      { role: 'assistant', text: '', toolCalls: [] }
    ],
    tools: [weather],
    toolChoice: { tool: 'weather' },
    settings: { temperature: 0.5, topP: 0.9, maxOutputTokens: 99, reasoningEffort: 'low', seed: 7, stop: ['x'] }
  })
  t.strictSame(bodies, [{
    model: 'm',
    input: [
      { role: 'user', content: 'Weather in Bonn?' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'A city.' }], encrypted_content: 'SEALED' },
      { role: 'assistant', content: 'Let me see.' },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Bonn"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Sun.' }
    ],
    stream: true,
    store: false,
    instructions: 'Be brief.',
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', ...weather, strict: false }],
    tool_choice: { type: 'function', name: 'weather' },
    reasoning: { effort: 'low', summary: 'auto' },
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 99
  }])
})

t.test('what a server refuses is left out, now and from then on', async (t) => {
  const refuse = (message: string, param: string | null = null) => ({ status: 400, error: { message, param, type: 'invalid_request_error' } })
  const { model, bodies } = await startModel(t, [
    refuse("Unsupported parameter: 'reasoning.summary' is not supported with this model.", 'reasoning.summary'),
    refuse('Encrypted content is not supported with this model.', 'include'),
    refuse('text.format of type json_schema is not supported', 'text.format'),
    [...said('{}'), completed], [...said('{}'), completed]
  ])
  const shaped = { ...plain, responseSchema: { type: 'object' } }
  t.equal(textOf((await ask(model, shaped)).events), '{}')
  await ask(model, shaped)
  const last = { model: 'm', input: [{ role: 'user', content: 'Hi' }], stream: true, store: false, instructions: 'Be brief.\n\nAnswer with one JSON value and nothing else. It matches this JSON Schema: {"type":"object"}', text: { format: { type: 'json_object' } } }
  t.strictSame(bodies.slice(3), [last, last])
  t.match(bodies[0], { text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: false } } })
})

t.test('reasoning that its server cannot read any more is left out of that request only', async (t) => {
  const refused = { status: 400, error: { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content', type: 'invalid_request_error' } }
  const { model, bodies } = await startModel(t, [refused, [...said('ok'), completed], [...said('ok'), completed]])
  const messages: ModelRequest['messages'] = [{ role: 'assistant', text: 'Yes.', reasoning: [{ model: 'test:m', itemId: 'rs_1', encryptedContent: 'OLD', text: '' }], toolCalls: [] }, { role: 'user', content: 'And?' }]
  t.equal(textOf((await ask(model, { ...plain, messages })).events), 'ok')
  await ask(model, { ...plain, messages })
  t.strictSame(bodies.map(({ input }) => JSON.stringify(input).includes('OLD')), [true, false, true])
  t.match(bodies[1], { include: ['reasoning.encrypted_content'] }, 'it is still asked for')
})

t.test('tools that the provider runs are announced and told with what came of them', async (t) => {
  const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'weather' } }
  const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGVsbG8=' }
  const remote = { id: 'mcp_1', type: 'mcp_call', name: 'lookup', server_label: 'shop', arguments: '{"id":7}', output: null, error: 'gone', status: 'failed' }
  const events = [search, image, remote].flatMap((item, index) => [
    { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
    { type: `response.${item.type}.in_progress`, output_index: index, item_id: item.id },
    { type: 'response.output_item.done', output_index: index, item }
  ])
  const { model } = await startModel(t, [[...events, completed]])
  const heard = eventsOf((await ask(model)).events, 'provider-tool')
  t.strictSame(heard.filter(({ outcome }) => outcome === undefined).map(({ callId, toolName }) => [callId, toolName]), [['ws_1', 'web_search'], ['ig_1', 'image_generation'], ['mcp_1', 'lookup']])
  t.strictSame(heard.flatMap(({ outcome }) => outcome === undefined ? [] : [outcome]), [
    { input: { action: { type: 'search', query: 'weather' } }, output: { status: 'completed' }, failed: false },
    { input: {}, output: { status: 'completed' }, failed: false },
    { input: { server_label: 'shop', id: 7 }, output: { error: 'gone', status: 'failed' }, failed: true }
  ])
})

t.test('citations are sources, whether they come one by one or with the whole message', async (t) => {
  const url = { type: 'url_citation', url: 'https://example.org/a', title: 'A' }
  const file = { type: 'file_citation', file_id: 'file-1', filename: 'b.txt' }
  const { model } = await startModel(t, [[
    ...said('As they say.'),
    { type: 'response.output_text.annotation.added', output_index: 0, item_id: 'msg_1', annotation: url },
    { type: 'response.output_text.annotation.added', output_index: 0, item_id: 'msg_1', annotation: { type: 'file_path', file_id: 'f' } },
    { type: 'response.output_item.done', output_index: 0, item: { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'As they say.', annotations: [file] }] } },
    completed
  ]])
  const { events } = await ask(model)
  t.strictSame(eventsOf(events, 'source').map(({ type, ...source }) => source), [{ sourceId: 'https://example.org/a', url: 'https://example.org/a', title: 'A' }, { sourceId: 'file-1', title: 'b.txt' }])
  t.equal(textOf(events), 'As they say.')
})

t.test('a refusal is what the model says', async (t) => {
  const { model } = await startModel(t, [[{ type: 'response.refusal.delta', output_index: 0, item_id: 'msg_1', delta: 'I cannot.' }, completed]])
  t.equal(textOf((await ask(model)).events), 'I cannot.')
})

t.test('reasoning keeps its paragraphs, and its key also where nothing of it is shown', async (t) => {
  const part = (index: number, delta: string) => [
    { type: 'response.reasoning_summary_part.added', output_index: 0, item_id: 'rs_1', summary_index: index },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'rs_1', summary_index: index, delta }
  ]
  const { model } = await startModel(t, [[
    ...part(0, 'One.'), ...part(1, 'Two.'),
    { type: 'response.output_item.done', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'A' } },
    { type: 'response.output_item.done', output_index: 1, item: { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'B' } },
    completed
  ]])
  const { events } = await ask(model)
  t.strictSame(events.filter(({ type }) => type === 'reasoning-delta' || type === 'block-end'), [
    { type: 'reasoning-delta', delta: 'One.' }, { type: 'reasoning-delta', delta: '\n\n' }, { type: 'reasoning-delta', delta: 'Two.' },
    { type: 'block-end', key: { model: 'test:m', itemId: 'rs_1', encryptedContent: 'A' } },
    { type: 'block-end', key: { model: 'test:m', itemId: 'rs_2', encryptedContent: 'B' } }
  ])
})

t.test('an answer that is cut off says by what, and its broken call is not run', async (t) => {
  const call = [
    { type: 'response.output_item.added', output_index: 1, item: { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'weather', arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'other_each_time', delta: '{"city":"Bo' }
  ]
  for (const [reason, finish] of [['max_output_tokens', 'length'], ['content_filter', 'content-filter'], ['something', 'other']] as const) {
    const { model } = await startModel(t, [[...said('Half'), ...call, { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason }, usage } }]])
    const { events, error } = await ask(model)
    t.equal(error, undefined)
    t.equal(finishOf(events), finish)
    t.strictSame(callsOf(events), [{ id: 'c1', name: 'weather', arguments: '{"city":"Bo', complete: false }])
  }
})

t.test('a stream that ends without its end is a broken answer', async (t) => {
  const { model } = await startModel(t, [said('Half')])
  const { events, error } = await ask(model)
  t.equal(textOf(events), 'Half')
  t.match(error, { code: 'provider_unavailable' })
})

t.test('errors in the stream are told apart', async (t) => {
  const failed = (code: string) => [{ type: 'response.failed', response: { status: 'failed', error: { code, message: 'SECRETSECRET' } } }]
  for (const [events, code] of [
    [failed('rate_limit_exceeded'), 'rate_limited'],
    [failed('server_error'), 'provider_unavailable'],
    [[{ type: 'error', code: 'context_length_exceeded', message: 'SECRETSECRET', param: null }], 'context_overflow'],
    [[{ error: { code: 'insufficient_quota', message: 'SECRETSECRET' } }], 'configuration_error'],
    [[{ type: 'response.cancelled', response: { status: 'cancelled' } }], 'provider_unavailable']
  ] as const) {
    const { model } = await startModel(t, [events])
    const { error } = await ask(model)
    t.match(error, { code })
    t.notMatch(String(error), /SECRETSECRET/)
  }
})

t.test('a server that does not stream is understood too', async (t) => {
  const output = [
    { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'K' },
    { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
    { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' }
  ]
  const { model } = await startModel(t, [{ json: { object: 'response', status: 'completed', output, usage } }])
  const { events, error } = await ask(model)
  t.equal(error, undefined)
  t.equal(textOf(events), 'Hello')
  t.strictSame(callsOf(events), [{ id: 'c1', name: 'weather', arguments: '{}', complete: true }])
  t.match(eventsOf(events, 'block-end')[0], { key: { itemId: 'rs_1' } })
  t.strictSame(eventsOf(events, 'usage'), [{ type: 'usage', usage: { input: 10, output: 4, reasoning: 1, cachedRead: 2, cacheWrite: 0 }, estimated: false }])
})

/** A model in front of a provider that gives one answer after the other. */
async function startModel (t: Test, answers: readonly Answer[]): Promise<{ model: Model, bodies: Event[] }> {
  const bodies: Event[] = []
  const { baseURL } = await startUpstream(t, async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const answer = answers[bodies.length] ?? []
    bodies.push({ ...JSON.parse(body) })
    if (request.url !== '/v1/responses') response.writeHead(404).end()
    else if ('status' in answer) response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: answer.error }))
    else if ('json' in answer) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json))
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(responseBytes(answer))
  })
  return { model: createOpenAIResponsesModel({ id: 'test:m', modelName: 'm', client: createOpenAIClient({ baseURL, apiKey: 'k' }) }), bodies }
}

async function ask (model: Model, request: ModelRequest = plain): Promise<Heard & { events: ModelEvent[] }> {
  return await hear(model.generate(request, { signal: new AbortController().signal }))
}
