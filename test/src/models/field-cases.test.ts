import t from 'tap'
import { callModel, type Retry } from '../../../src/models/call-model.ts'
import type { ModelMessage, ModelRequest } from '../../../src/models/model.ts'
import { createOpenAIChatModel } from '../../../src/models/openai-chat.ts'
import { createOpenAIClient } from '../../../src/models/openai-client.ts'
import { callsOf, eventsOf, finishOf, hear, reasoningOf, textOf } from '../../helpers/chat-events.ts'
import { startCasesUpstream, type CasesUpstream } from '../../helpers/upstream.ts'

// Streams that providers were seen to send, by the id of their script in test/fixtures/upstream/cases.mjs.

const tools = ['first', 'second'].map((name) => ({ name, description: name, parameters: { type: 'object', properties: { text: { type: 'string' } } } }))
const question: ModelMessage = { role: 'user', content: 'Go' }
const arguments0 = '{"text":"h\u00e9llo \\ud83d\\ude00 \\"q\\" \\n x"}'

t.test('text, reasoning and finish of every plain answer come through', async (t) => {
  const upstream = await startCasesUpstream(t)
  for (const [id, text, reasoning, finish] of [
    ['S00', 'Hello world', '', 'stop'],
    ['S01', 'Hi', '', 'stop'],
    ['S09', '日本語 😀 é', '', 'stop'],
    ['S12', 'Answer', 'THINK-1 THINK-2', 'stop'],
    ['S12b', 'Answer', 'THINK-1', 'stop'],
    ['S14', 'I cannot help with that.', '', 'stop'],
    ['S15', 'Hi', '', 'stop'],
    ['S17', 'Hi', '', 'stop'],
    ['S18', 'Hi', '', 'stop'],
    ['S24', '', '', 'stop'],
    ['S31', 'Part', '', 'content-filter'],
    ['S31b', '', '', 'content-filter'],
    ['S34b', 'Whole', '', 'stop']
  ] as const) {
    const { events, error } = await ask(upstream, id)
    t.strictSame([textOf(events), reasoningOf(events), finishOf(events), error], [text, reasoning, finish, undefined], id)
    t.equal(eventsOf(events, 'usage').length, 1, `${id} has its usage once`)
  }
  t.match(eventsOf((await ask(upstream, 'S01')).events, 'usage'), [{ usage: { input: 7, output: 3 }, estimated: false }])
})

t.test('tool calls come through whatever names them, and their results are accepted in the next round', async (t) => {
  const upstream = await startCasesUpstream(t)
  for (const [id, calls] of [
    ['S02', [['first', arguments0], ['first', '{"text":"second"}']]],
    ['S04', [['first', arguments0]]],
    ['S05b', [['first', arguments0]]],
    ['S06', [['first', '{}']]],
    ['S06b', [['first', '{}']]],
    ['S10', [['first', arguments0]]],
    ['S10b', [['first', arguments0]]],
    ['S25', [['first', arguments0], ['second', '{"text":"second"}']]],
    ['M04', [['first', '{"__proto__":{"isAdmin":true},"text":"x"}']]],
    ['M05', [['first', arguments0]]]
  ] as const) {
    await upstream.clear()
    const first = await ask(upstream, id)
    t.strictSame(callsOf(first.events).map((call) => [call.name, call.arguments]), calls, id)
    t.ok(callsOf(first.events).every((call) => call.complete && call.id !== ''), id)
    t.equal(finishOf(first.events), 'tool-calls', id)
    const second = await ask(upstream, id, [question, ...answered(callsOf(first.events))])
    t.equal(textOf(second.events), 'AFTER-TOOL', id)
    t.strictSame((await upstream.log()).map((entry) => entry.historyError), [undefined, undefined], id)
  }
})

t.test('a made up tool name and broken arguments are told as the model wrote them', async (t) => {
  const upstream = await startCasesUpstream(t)
  t.match(callsOf((await ask(upstream, 'S27')).events), [{ name: 'no_such_tool', arguments: '{}', complete: true }])
  t.match(callsOf((await ask(upstream, 'S28')).events), [{ name: 'first', arguments: '{"text": "a" "b"}', complete: true }])
})

t.test('broken answers end in an error after what they said, without a word of the upstream', async (t) => {
  const upstream = await startCasesUpstream(t)
  for (const [id, text, code] of [
    ['S19', '', 'configuration_error'],
    ['S19c', '', 'provider_unavailable'],
    ['S21', 'Half an answer', 'provider_unavailable'],
    ['S21b', '', 'provider_unavailable'],
    ['S22', 'Half', 'provider_timeout'],
    ['S34', '', 'provider_unavailable'],
    ['S34c', '', 'provider_unavailable'],
    ['S35', '', 'configuration_error'],
    ['S38', 'Hi', 'provider_unavailable']
  ] as const) {
    const { events, error } = await ask(upstream, id)
    t.equal(textOf(events), text, id)
    t.match(error, { name: 'AppError', code }, id)
    t.notMatch(JSON.stringify([error, String(error), String((error as Error).cause)]), /SECRET|EXPLODED|<html/, id)
    t.equal(finishOf(events), undefined, id)
  }
})

t.test('only answers that said nothing are asked for again, twice at most', async (t) => {
  const upstream = await startCasesUpstream(t)
  for (const [id, requests] of [['S21', 1], ['S21b', 3], ['S34c', 3], ['S38', 1], ['S35', 1]] as const) {
    await upstream.clear()
    await ask(upstream, id)
    t.equal((await upstream.log()).length, requests, id)
  }
})

t.test('a provider that asks to wait two seconds is asked again after two seconds', async (t) => {
  const upstream = await startCasesUpstream(t)
  const retries: Retry[] = []
  const { events, error } = await ask(upstream, 'S20', [question], { onRetry: (retry) => retries.push(retry) })
  t.equal(error, undefined)
  t.equal(textOf(events), 'Second try')
  t.match(retries, [{ attempt: 1, delayMs: 2_000, error: { code: 'rate_limited' } }])
  const [first, second] = await upstream.log()
  const waited = (second?.t ?? 0) - (first?.t ?? 0)
  t.ok(waited > 1_900 && waited < 5_000, `waited ${waited} ms`)
})

t.test('a run that is stopped closes its request at the provider', async (t) => {
  const upstream = await startCasesUpstream(t)
  const controller = new AbortController()
  const reason = new Error('stopped')
  const stream = callModel(modelOf(upstream, 'S43'), requestOf([question]), { signal: controller.signal, timeouts: { firstTokenMs: 5_000, idleMs: 5_000 } })
  let heard = 0
  await t.rejects(async () => {
    for await (const batch of stream) {
      heard += batch.length
      if (heard > 20) controller.abort(reason)
    }
  }, reason)
  for (let wait = 0; wait < 100 && (await upstream.log())[0]?.closedByClient !== true; wait++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.match(await upstream.log(), [{ closedByClient: true, done: false }])
})

function ask (upstream: CasesUpstream, id: string, messages: readonly ModelMessage[] = [question], { onRetry }: { onRetry?: (retry: Retry) => void } = {}) {
  const sleep = onRetry === undefined ? async () => {} : undefined
  return hear(callModel(modelOf(upstream, id), requestOf(messages), { signal: new AbortController().signal, timeouts: { firstTokenMs: 5_000, idleMs: 300 }, onRetry, sleep }))
}

function modelOf (upstream: CasesUpstream, id: string) {
  return createOpenAIChatModel({ id: `test:${id}`, modelName: id, client: createOpenAIClient({ baseURL: upstream.baseURL(id), apiKey: 'k' }) })
}

function requestOf (messages: readonly ModelMessage[]): ModelRequest {
  return { instructions: 'Be brief.', messages, tools, toolChoice: 'auto', settings: {} }
}

function answered (calls: ReturnType<typeof callsOf>): ModelMessage[] {
  return [
    { role: 'assistant', text: '', toolCalls: calls.map((call) => ({ callId: call.id, toolName: call.name, arguments: call.arguments })) },
    ...calls.map((call): ModelMessage => ({ role: 'tool', callId: call.id, toolName: call.name, content: 'done' }))
  ]
}
