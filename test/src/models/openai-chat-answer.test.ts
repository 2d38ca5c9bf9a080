import t from 'tap'
import { isAppError } from '../../../src/errors.ts'
import type { ModelEvent } from '../../../src/models/model.ts'
import { createChatAnswer } from '../../../src/models/openai-chat-answer.ts'
import { callsOf, eventsOf, finishOf, reasoningOf, textOf } from '../../helpers/chat-events.ts'

const estimated = { input: 1, output: 2, reasoning: 0, cachedRead: 0, cacheWrite: 0 }
const say = (delta: object, reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason: reason }] })
const entry = (call: object) => say({ tool_calls: [call] })
const stop = say({}, 'stop')
const called = say({}, 'tool_calls')

t.test('deltas without an index belong to the call their id or name says', async (t) => {
  const apart = play([entry({ id: 'a', function: { name: 'f', arguments: '{"n":' } }), entry({ function: { arguments: '1}' } }), entry({ id: 'b', function: { name: 'f', arguments: '{"n":2}' } }), entry({ id: 'b', function: { arguments: ' ' } }), called])
  t.match(callsOf(apart), [{ id: 'a', name: 'f', arguments: '{"n":1}' }, { id: 'b', name: 'f', arguments: '{"n":2} ' }])
  const nameless = play([entry({ function: { name: 'f', arguments: '{}' } }), entry({ function: { name: 'g', arguments: '{}' } }), entry({ function: { name: 'g', arguments: '{"x":1}' } }), called])
  t.match(callsOf(nameless).map(({ name, arguments: text }) => [name, text]), [['f', '{}'], ['g', '{}'], ['g', '{"x":1}']])
  const together = play([say({ tool_calls: [{ function: { name: 'f', arguments: '' } }, { function: { name: 'f', arguments: '' } }] }), called])
  t.equal(callsOf(together).length, 2)
})

t.test('calls that share index 0 and differ in id are two calls; a fresh id on every delta of one call is one', async (t) => {
  const two = play([entry({ index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } }), entry({ index: 0, id: 'b', function: { name: 'f', arguments: '{"n":2}' } }), called])
  t.match(callsOf(two), [{ id: 'a', arguments: '{"n":1}' }, { id: 'b', arguments: '{"n":2}' }])
  const one = play([entry({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), entry({ index: 0, id: 'x', function: { arguments: '{"n"' } }), entry({ index: 0, id: 'y', function: { arguments: ':1}' } }), called])
  t.match(callsOf(one), [{ id: 'a', arguments: '{"n":1}' }])
  t.equal(callsOf(one).length, 1)
})

t.test('call ids are made where they are missing and unique where they are not', async (t) => {
  const ids = callsOf(play([entry({ index: 0, function: { name: 'f', arguments: '{}' } }), entry({ index: 1, id: '', function: { name: 'f', arguments: '{}' } }), entry({ index: 2, id: 'x', function: { name: 'f', arguments: '{}' } }), entry({ index: 3, id: 'x', function: { name: 'f', arguments: '{}' } }), called])).map(({ id }) => id)
  t.equal(new Set(ids).size, 4)
  t.match(ids, [/^call_[0-9a-f-]{36}$/, /^call_[0-9a-f-]{36}$/, 'x', /^x_/])
})

t.test('a call is started once its name is known, with the arguments that came before', async (t) => {
  const events = play([entry({ index: 0, id: 'a', function: { name: '', arguments: '{"n"' } }), entry({ index: 0, function: { name: 'f', arguments: ':' } }), entry({ index: 0, function: { name: 'f', arguments: '1}' } }), called])
  t.strictSame(events.slice(0, 4), [
    { type: 'tool-call-start', callId: 'a', toolName: 'f' },
    { type: 'tool-input-delta', callId: 'a', delta: '{"n":' },
    { type: 'tool-input-delta', callId: 'a', delta: '1}' },
    { type: 'tool-call', callId: 'a', toolName: 'f', arguments: '{"n":1}', complete: true }
  ])
  t.strictSame(callsOf(play([entry({ index: 0, id: 'a', function: { name: '', arguments: '' } }), stop])), [], 'one that never got a name and says nothing is none')
})

t.test('arguments that are absent, blank, null or an object become the text of an object', async (t) => {
  for (const [given, text] of [[undefined, '{}'], ['', '{}'], [' ', '{}'], ['null', '{}'], [null, '{}'], [{ n: 1 }, '{"n":1}']] as const) {
    t.equal(callsOf(play([entry({ index: 0, id: 'a', function: { name: 'f', arguments: given } }), called]))[0]?.arguments, text)
  }
})

t.test('only broken arguments of an answer that was cut are incomplete', async (t) => {
  const calls = [entry({ index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } }), entry({ index: 1, id: 'b', function: { name: 'f', arguments: '{"n":' } })]
  const complete = (events: readonly ModelEvent[]) => callsOf(events).map((call) => call.complete)
  t.strictSame(complete(play([...calls, say({}, 'length')])), [true, false], 'length')
  t.strictSame(complete(play([...calls])), [true, false], 'no reason at all')
  t.strictSame(complete(play([...calls, called])), [true, true], 'the model wrote it so')
})

t.test('the legacy function_call is a tool call', async (t) => {
  const events = play([say({ function_call: { name: 'f', arguments: '{"n"' } }), say({ function_call: { arguments: ':1}' } }), say({}, 'function_call')])
  t.match(callsOf(events), [{ name: 'f', arguments: '{"n":1}', complete: true }])
  t.equal(finishOf(events), 'tool-calls')
})

t.test('reasoning comes apart from text, in every spelling', async (t) => {
  const events = play([say({ reasoning_content: 'a' }), say({ reasoning: 'b' }), say({ reasoning: 'c', reasoning_content: 'c' }), say({ content: [{ type: 'thinking', thinking: 'd' }, { type: 'thinking', thinking: [{ type: 'text', text: 'e' }] }, { type: 'text', text: 'T' }] }), say({ refusal: 'no' }), stop])
  t.equal(reasoningOf(events), 'abcde')
  t.equal(textOf(events), 'Tno')
})

t.test('finish reasons are mapped, and corrected by what the answer holds', async (t) => {
  const text = say({ content: 'x' })
  const call = entry({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })
  for (const [reason, mapped] of [['stop', 'stop'], ['length', 'length'], ['content_filter', 'content-filter'], ['eos', 'stop'], ['new_reason', 'other'], ['tool_calls', 'stop']] as const) {
    t.equal(finishOf(play([text, say({}, reason)])), mapped, reason)
  }
  t.equal(finishOf(play([call, stop])), 'tool-calls')
  t.equal(finishOf(play([text])), 'stop', 'nothing but [DONE]')
  t.equal(finishOf(play([call])), 'tool-calls', 'nothing but [DONE] behind a call')
})

t.test('usage is found wherever it is, the last one counts, and it is estimated where there is none', async (t) => {
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  const found = { input: 7, output: 3, reasoning: 0, cachedRead: 0, cacheWrite: 0 }
  const places = [
    [stop, { choices: [], usage }],
    [{ ...stop, usage }],
    [stop, { usage }],
    [{ ...stop, x_groq: { usage } }],
    [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }],
    [{ ...say({ content: 'x' }), usage: { ...usage, completion_tokens: 1 } }, { ...stop, usage }]
  ]
  for (const chunks of places) t.strictSame(eventsOf(play(chunks), 'usage'), [{ type: 'usage', usage: found, estimated: false }])
  for (const none of [null, {}, { prompt_tokens: 0, completion_tokens: 0 }]) t.strictSame(eventsOf(play([{ ...stop, usage: none }]), 'usage'), [{ type: 'usage', usage: estimated, estimated: true }])
  const cached = { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 2 } }
  t.match(eventsOf(play([{ ...stop, usage: cached }]), 'usage'), [{ usage: { input: 9, output: 5, reasoning: 2, cachedRead: 4 } }])
})

t.test('chunks without choices, other choices and comments sent as data are passed over', async (t) => {
  const events = play([{ prompt_filter_results: [] }, { choices: null }, { choices: [{ index: 1, delta: { content: 'second' } }] }, say({ content: 'x' }), { choices: [{ index: 0, delta: null }] }, stop], { before: 'data: : keepalive\n\n' })
  t.equal(textOf(events), 'x')
})

t.test('an answer that breaks off is provider_unavailable, after what it said', async (t) => {
  for (const { name, wire } of [
    { name: 'cut behind text', wire: sse([say({ content: 'Hi' })]) },
    { name: 'cut inside a chunk', wire: sse([say({ content: 'Hi' })]) + 'data: {"choices":[{"ind' },
    { name: 'malformed', wire: sse([say({ content: 'Hi' })]) + 'data: {"choices":[{"ind\n\n' + sse([stop]) },
    { name: 'not an object', wire: sse([say({ content: 'Hi' })]) + 'data: 5\n\n' + sse([stop]) },
    { name: 'finish reason error', wire: sse([say({ content: 'Hi' }), say({}, 'error')]) }
  ]) {
    const { events, error } = broken(wire)
    t.equal(textOf(events), 'Hi', name)
    t.match(error, { code: 'provider_unavailable' }, name)
  }
  t.match(broken('data: [DONE]\n\n').error, { code: 'provider_unavailable' }, '[DONE] with nothing before it')
  t.match(broken('').error, { code: 'provider_unavailable' }, 'nothing at all')
})

t.test('an answer that has given its reason to finish is whole, wherever its stream is cut behind that', async (t) => {
  const wire = sse([say({ content: 'Hi' }), stop])
  const rest = sse([{ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 0 } } }]) + 'data: [DONE]\n\n'
  for (let cut = 0; cut <= rest.length; cut++) {
    const { events, error } = broken(wire + rest.slice(0, cut))
    t.equal(error, undefined, `cut at ${cut}`)
    t.match(finishOf(events), 'stop')
  }
})

t.test('an error inside a good stream is mapped without its text', async (t) => {
  const secret = 'sk-test-SECRETSECRET'
  for (const [error, code] of [
    [{ message: secret, type: 'insufficient_quota', code: 429 }, 'configuration_error'],
    [{ message: secret, code: 429 }, 'rate_limited'],
    [{ message: secret, code: 'rate_limit_exceeded' }, 'rate_limited'],
    [{ message: secret, code: 'context_length_exceeded' }, 'context_overflow'],
    [{ message: `${secret} maximum context length is 10` }, 'context_overflow'],
    [{ message: secret, code: 'content_filter' }, 'content_filtered'],
    [{ message: secret, type: 'server_error', code: secret }, 'provider_unavailable'],
    [{ message: secret, code: 'invalid_api_key' }, 'configuration_error'],
    [secret, 'provider_unavailable']
  ] as const) {
    for (const chunk of [{ error }, { choices: [{ index: 0, error, finish_reason: 'error' }] }]) {
      const thrown = broken(sse([chunk])).error
      t.match(thrown, { code }, JSON.stringify(error))
      t.notMatch(everything(thrown), secret)
    }
  }
})

t.test('a whole JSON completion is an answer, whatever its content type', async (t) => {
  const body = { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Whole', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] }, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 1, completion_tokens: 2 } }
  for (const contentType of ['application/json', 'text/event-stream', '']) {
    const events = read([Buffer.from(JSON.stringify(body, null, 2))], contentType)
    t.equal(textOf(events), 'Whole')
    t.match(callsOf(events), [{ id: 'a', complete: true }])
    t.match(eventsOf(events, 'usage'), [{ usage: { input: 1, output: 2 } }])
  }
})

t.test('a web page is no answer', async (t) => {
  t.throws(() => read([Buffer.from('anything')], 'text/html; charset=utf-8'), { code: 'provider_unavailable' })
  t.throws(() => read([Buffer.from(' \n<!doctype html>')], 'text/event-stream'), { code: 'provider_unavailable' })
})

t.test('deltas of chunks that are alike are read as if each stood alone', async (t) => {
  const texts = [' word', 'two\nlines', '"quoted" \\ and more', '', ' far longer than what is copied', '\u00e4\ud83d\ude00\ud800', '","role":"x', '{"choices":[]}', '\u0007', '[DONE]', ' word']
  for (const field of ['content', 'reasoning_content']) {
    const wires = texts.map((text) => sse([{ id: 'same', ...say({ [field]: text }), usage: null }]))
    const said = read([Buffer.from(wires.join('') + sse([stop]))]).flatMap((event) => 'delta' in event ? [event.delta] : [])
    t.strictSame(said, texts.filter((text) => text !== ''), field)
  }
})

t.test('a chunk that is only nearly like the one before is read for what it is', async (t) => {
  const wire = (inside: string) => `data: {"id":"same","choices":[{"index":0,"delta":{"content":"${inside}"},"finish_reason":null}],"usage":null}\n\n`
  const rest = sse([stop]) + 'data: [DONE]\n\n'
  const after = (inside: string) => broken(wire('one') + wire('two') + wire(inside) + rest)
  t.equal(textOf(after('three').events), 'onetwothree')
  t.match(callsOf(after('three","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}],"x":"').events), [{ id: 'a', name: 'f' }])
  t.equal(textOf(after('three","content":"four').events), 'onetwofour', 'of two fields of one name the last counts')
  t.equal(reasoningOf(after('","reasoning":"hm').events), 'hm')
  for (const unreadable of ['a\ttab', 'a"quote', '\\', '\\x']) t.match(after(unreadable).error, { code: 'provider_unavailable' }, unreadable)
  const other = (delta: object, usage: object | null = null) => ({ id: 'same', ...say(delta), usage })
  const mixed = play([other({ content: 'a' }), other({ content: 'b' }), other({ reasoning: 'b' }), other({ reasoning: 'c' }), other({ content: 'd' }), other({ content: 'e' }, { prompt_tokens: 1, completion_tokens: 5 }), other({ content: 'f', refusal: 'g' }), other({ content: 'h' }), stop])
  t.strictSame(mixed.slice(0, -2).map((event) => 'delta' in event && [event.type[0], event.delta].join('')), ['ta', 'tb', 'rb', 'rc', 'td', 'te', 'tf', 'tg', 'th'])
  t.match(eventsOf(mixed, 'usage'), [{ usage: { output: 5 }, estimated: false }])
})

function sse (chunks: readonly object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
}

function play (chunks: readonly object[], { before = '' } = {}): ModelEvent[] {
  return read([Buffer.from(before + sse(chunks) + 'data: [DONE]\n\n')])
}

function read (chunks: readonly Uint8Array[], contentType = 'text/event-stream', events: ModelEvent[] = []): ModelEvent[] {
  const answer = createChatAnswer({ contentType, estimate: () => estimated })
  for (const chunk of chunks) answer.push(chunk, events)
  if (!answer.over()) answer.end(events)
  return events
}

function broken (wire: string): { events: ModelEvent[], error: unknown } {
  const events: ModelEvent[] = []
  try {
    read([Buffer.from(wire)], 'text/event-stream', events)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

function everything (error: unknown): string {
  if (!isAppError(error)) return String(error)
  const cause = error.cause instanceof Error ? { ...error.cause, message: error.cause.message } : error.cause
  return JSON.stringify({ ...error, message: error.message, cause })
}
