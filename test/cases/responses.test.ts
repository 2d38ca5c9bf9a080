import t, { type Test } from 'tap'
import { createModelRegistry, providerSchema } from '../../src/models/providers.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames, foldStream, portableKeys, type ClientMessage } from '../helpers/ai-clients.ts'
import { getJson, post, startApp } from '../helpers/app.ts'
import { readResponses, responseBytes, responseRecordings, type RecordedResponse } from '../helpers/responses.ts'
import { startUpstream } from '../helpers/upstream.ts'
import { newThreadId } from './case-service.ts'

type Body = { readonly input: ReadonlyArray<Readonly<Record<string, unknown>>> } & Readonly<Record<string, unknown>>

const says = (text: string) => responseBytes([
  { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', delta: text },
  { type: 'response.completed', response: { status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } } }
])

for (const name of responseRecordings) {
  t.test(`everything the recorded responses ${name} hold reaches the client and stays`, async (t) => {
    const recorded = readResponses(name)
    const { ask, history } = await startReplay(t, recorded)
    const { message, body } = await ask('Go')
    const stored = (await history()).at(-1)
    t.strictSame({ id: stored?.id, parts: stored?.parts }, { id: message.id, parts: message.parts }, 'a reload shows what was live')
    if (recorded.some(({ error }) => error !== undefined)) {
      t.match(stored, { parts: [{ type: 'step-start' }, { type: 'data-error', data: { code: 'configuration_error' } }], metadata: { status: 'failed' } })
      t.notMatch(body, /quota/)
      return
    }
    const last = recorded.at(-1)?.calls.length === 0 ? [] : ['AFTER']
    const texts = (type: string) => message.parts.filter((part) => part.type === type).map((part) => part['text']).join('')
    t.equal(texts('text'), recorded.map(({ text }) => text).join('') + last.join(''))
    t.equal(texts('reasoning'), recorded.map(({ reasoning }) => reasoning).join(''))
    t.strictSame(message.parts.filter(({ type }) => type.startsWith('tool-')).map((part) => [part['toolCallId'], part.type, part['input'], part['output']]),
      recorded.flatMap(({ calls }) => calls.map((call) => [call.id, `tool-${call.name}`, JSON.parse(call.arguments), 'a result'])))
    const total = (key: 'input' | 'output' | 'reasoning' | 'cachedRead') => recorded.reduce((sum, { usage }) => sum + (usage?.[key] ?? 0), 0)
    t.match(stored?.metadata, { status: 'completed', finishReason: 'stop', usage: { input: total('input') + last.length, output: total('output') + last.length, reasoning: total('reasoning'), cachedRead: total('cachedRead') } })
  })
}

t.test('the messages of one response are paragraphs where there are no blocks', async (t) => {
  const { url } = await startReplay(t, readResponses('openai-phase'))
  const { body } = await post(`${url}/v1/agents/tester/run`, { input: 'News?' })
  t.match(JSON.parse(body).text, /^Got it\n\nHere are a few/)
})

t.test('reasoning goes back to the model it came from, in the same run and in later turns', async (t) => {
  const recorded = readResponses('openai-reasoning')
  const { ask, bodies } = await startReplay(t, recorded)
  const { body, message } = await ask('Calculate')
  await ask('And now?')
  const encrypted = recorded[0]?.encrypted[0] ?? ''
  const item = { type: 'reasoning', encrypted_content: encrypted, summary: [{ type: 'summary_text', text: recorded[0]?.reasoning }] }
  t.notOk(bodies[0]?.input.some(({ type }) => type === 'reasoning'))
  t.match(bodies[1]?.input.slice(1), [item, { type: 'function_call' }, { type: 'function_call_output' }], 'in the next step')
  t.match(bodies.at(-1)?.input.slice(1, 4), [item, { type: 'function_call' }, { type: 'function_call_output' }], 'in the next turn')
  for (const client of clientNames) {
    const folded = await foldStream(client, body)
    t.strictSame(portableKeys(folded.chunks), [], `${client}: portable`)
    t.strictSame(folded.message?.parts, message.parts, client)
  }
})

t.test('reasoning never goes to another model', async (t) => {
  const { ask, bodies, url, threadId } = await startReplay(t, readResponses('openai-reasoning'))
  await ask('Calculate')
  await fetch(`${url}/v1/threads/${threadId}`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ agentId: 'other' }) })
  await ask('And now?')
  t.notOk(bodies.at(-1)?.input.some(({ type }) => type === 'reasoning'))
  t.ok(bodies.at(-1)?.input.some(({ type }) => type === 'function_call'), 'what was said and done goes to it')
})

t.test('tools that the provider ran and sources it cites are shown, stored, and not told to the model again', async (t) => {
  const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'news' } }
  const failed = { id: 'ws_2', type: 'web_search_call', status: 'failed', action: { type: 'search', query: 'more' } }
  const citation = { type: 'url_citation', url: 'https://example.org/', title: 'Example' }
  const bytes = responseBytes([
    { type: 'response.output_item.added', output_index: 0, item: { ...search, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 0, item: search },
    { type: 'response.output_item.done', output_index: 1, item: failed },
    { type: 'response.output_text.delta', output_index: 2, item_id: 'msg_1', delta: 'As ' },
    { type: 'response.output_text.annotation.added', output_index: 2, item_id: 'msg_1', annotation: citation },
    { type: 'response.output_text.delta', output_index: 2, item_id: 'msg_1', delta: 'they say.' },
    { type: 'response.output_item.done', output_index: 2, item: { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'As they say.', annotations: [citation] }] } },
    { type: 'response.completed', response: { status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } } }
  ])
  const { ask, history, bodies } = await startReplay(t, [{ bytes, calls: [] }])
  const { message, body } = await ask('News?')
  t.strictSame(message.parts, [
    { type: 'step-start' },
    { type: 'tool-web_search', toolCallId: 'ws_1', state: 'output-available', providerExecuted: true, input: { action: search.action }, output: { status: 'completed' } },
    { type: 'tool-web_search', toolCallId: 'ws_2', state: 'output-error', providerExecuted: true, input: { action: failed.action }, errorText: 'The tool "web_search" failed.' },
    { type: 'text', text: 'As they say.', state: 'done' },
    { type: 'source-url', sourceId: citation.url, url: citation.url, title: 'Example', providerMetadata: { parley: { index: 1 } } }
  ])
  t.strictSame((await history()).at(-1)?.parts, message.parts)
  for (const client of clientNames) t.strictSame((await foldStream(client, body)).message?.parts, message.parts, client)
  await ask('And?')
  t.strictSame(bodies.at(-1)?.input, [{ role: 'user', content: 'News?' }, { role: 'assistant', content: 'As they say.' }, { role: 'user', content: 'And?' }])
})

/** The service in front of a provider that gives one recorded response after the other, and then a word. */
async function startReplay (t: Test, recorded: ReadonlyArray<Pick<RecordedResponse, 'bytes' | 'calls'>>) {
  const bodies: Body[] = []
  const { baseURL } = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const bytes = recorded[bodies.length]?.bytes ?? says('AFTER')
    bodies.push(JSON.parse(body))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes)
  })
  const names = new Set(recorded.flatMap(({ calls }) => calls.map(({ name }) => name)))
  const tools = [...names].map((name) => defineTool({ name, input: { type: 'object' }, execute: () => 'a result' }))
  const models = createModelRegistry({ providers: { replay: providerSchema.parse({ api: 'openai-responses', baseURL }) }, defaultModel: 'replay:recorded', env: {} })
  const { url } = await startApp(t, { models, agents: [{ key: 'tester', tools }, { key: 'other', model: 'replay:other', tools }] })
  const threadId = newThreadId()
  return { url, threadId, bodies, ask, history }

  async function ask (text: string): Promise<{ message: ClientMessage, body: string }> {
    const { body } = await post(`${url}/v1/threads/${threadId}/messages`, { text })
    const { message } = await foldStream('ai6', body)
    if (message === undefined) throw new Error('There is no answer')
    return { message, body }
  }

  async function history (): Promise<Array<ClientMessage & { metadata: Record<string, unknown> }>> {
    return (await getJson(`${url}/v1/threads/${threadId}/messages`)).items
  }
}
