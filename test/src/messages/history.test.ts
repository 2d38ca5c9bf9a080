import t from 'tap'
import { limitHistory, toModelMessages, type HistoryMessage } from '../../../src/messages/history.ts'
import type { MessagePart } from '../../../src/messages/parts.ts'
import type { ModelMessage } from '../../../src/models/model.ts'

const options = { toolOutputLimit: 4_000 }

function user (text: string): HistoryMessage {
  return { role: 'user', status: 'completed', parts: [{ type: 'text', text }] }
}

function assistant (...parts: MessagePart[]): HistoryMessage {
  return { role: 'assistant', status: 'completed', parts }
}

function call (toolCallId: string, fields: Partial<MessagePart & { state: string }> = {}): MessagePart {
  return { type: 'tool-roll', toolCallId, state: 'output-available', input: { n: 1 }, output: 6, ...fields } as MessagePart // the tests name legal fields
}

const step: MessagePart = { type: 'step-start' }
const say = (text: string): MessagePart => ({ type: 'text', text, state: 'done' })

/** What strict providers demand: arguments are JSON objects, ids are unique, results follow their calls in order. */
function check (messages: readonly ModelMessage[]): string[] {
  const faults: string[] = []
  const ids = new Set<string>()
  let waiting: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (waiting.shift() !== message.callId) faults.push(`result of ${message.callId} out of place`)
      continue
    }
    if (waiting.length > 0) faults.push(`no result of ${waiting.join()}`)
    waiting = []
    if (message.role !== 'assistant') continue
    if (message.text === '' && message.toolCalls.length === 0) faults.push('empty assistant turn')
    for (const { callId, arguments: args } of message.toolCalls) {
      if (ids.has(callId)) faults.push(`call ${callId} twice`)
      ids.add(callId)
      const value: unknown = JSON.parse(args)
      if (typeof value !== 'object' || value === null || Array.isArray(value)) faults.push(`arguments ${args}`)
      waiting.push(callId)
    }
  }
  return waiting.length === 0 ? faults : [...faults, `no result of ${waiting.join()}`]
}

t.test('each step is one assistant turn with its calls, then one result per call in call order', async (t) => {
  const messages = toModelMessages([user('Roll twice'), assistant(step, { type: 'reasoning', text: 'Hm' }, say('Rolling.'), call('a'), call('b', { output: { sum: 7 } }), step, say('Done.'))], options)
  t.strictSame(messages, [
    { role: 'user', content: 'Roll twice' },
    { role: 'assistant', text: 'Rolling.', toolCalls: [{ callId: 'a', toolName: 'roll', arguments: '{"n":1}' }, { callId: 'b', toolName: 'roll', arguments: '{"n":1}' }] },
    { role: 'tool', callId: 'a', toolName: 'roll', content: '6' },
    { role: 'tool', callId: 'b', toolName: 'roll', content: '{"sum":7}' },
    { role: 'assistant', text: 'Done.', toolCalls: [] }
  ])
})

t.test('a call that a crash or a stop left without a result is given as a closed pair', async (t) => {
  const parts = (['input-streaming', 'input-available', 'approval-requested', 'approval-responded'] as const).map((state, i) => call(`c${i}`, { state, output: undefined }))
  const messages = toModelMessages([user('Go'), assistant(step, ...parts, call('half', { preliminary: true })), user('And now?')], options)
  t.strictSame(check(messages), [])
  t.equal(messages.filter((message) => message.role === 'tool' && message.content.includes('interrupted')).length, 5)
})

t.test('failed and denied calls tell the model why', async (t) => {
  const messages = toModelMessages([user('Go'), assistant(step, call('a', { state: 'output-error', errorText: 'No such city.' }), call('b', { state: 'output-denied', approval: { id: 'x', approved: false, reason: 'Too dear' } }), call('c', { state: 'output-denied' }))], options)
  t.match(messages.slice(2), [{ content: 'Error: No such city.' }, { content: 'Denied: Too dear' }, { content: 'Denied.' }])
})

t.test('arguments that could not be read are given as a JSON object', async (t) => {
  const inputs = ['{"n":', '', null, undefined, [1], 7]
  const messages = toModelMessages([user('Go'), assistant(step, ...inputs.map((input, i) => call(`c${i}`, { state: 'output-error', input, errorText: 'Not JSON.' })))], options)
  t.strictSame(check(messages), [])
  t.match(messages[1], { toolCalls: [{ arguments: '{"unreadable":"{\\"n\\":"}' }, { arguments: '{}' }, { arguments: '{}' }, { arguments: '{}' }, { arguments: '{"unreadable":[1]}' }, { arguments: '{"unreadable":7}' }] })
})

t.test('an answer that said nothing is not a turn', async (t) => {
  const messages = toModelMessages([user('Hi'), assistant(step), assistant(step, { type: 'reasoning', text: 'Hm' }, { type: 'data-error', data: {} }), assistant(say('')), user('Hello?')], options)
  t.strictSame(messages, [{ role: 'user', content: 'Hi' }, { role: 'user', content: 'Hello?' }])
})

t.test('a call id used in two rounds or two turns is made unique, with its result', async (t) => {
  const messages = toModelMessages([user('1'), assistant(step, call('call_0'), step, call('call_0', { output: 2 })), user('2'), assistant(step, call('call_0', { output: 3 }), call('call_0_2', { output: 4 }))], options)
  t.strictSame(check(messages), [])
  t.strictSame(messages.flatMap((message) => message.role === 'tool' ? [[message.callId, message.content]] : []), [['call_0', '6'], ['call_0_2', '2'], ['call_0_3', '3'], ['call_0_2_2', '4']])
})

t.test('long results of earlier turns are cut with a note, those of the current turn are not', async (t) => {
  const long = call('a', { output: 'x'.repeat(50) })
  const messages = toModelMessages([user('1'), assistant(step, long), user('2'), assistant(step, call('b', { output: 'y'.repeat(50) }))], { toolOutputLimit: 10 })
  t.strictSame(messages.flatMap((message) => message.role === 'tool' ? [message.content] : []), ['xxxxxxxxxx\n[Cut: 50 characters in all, the first 10 kept]', 'y'.repeat(50)])
  t.match(toModelMessages([user('1'), assistant(step, long), user('2')], { toolOutputLimit: 0 })[2], { content: 'x'.repeat(50) })
})

t.test('tools go by the name the model knows, files by their name and type, members stay out', async (t) => {
  const member = call('m', { callProviderMetadata: { parley: { agent: 'x', parentToolCallId: 'a' } } })
  const messages = toModelMessages([
    { role: 'user', status: 'completed', parts: [{ type: 'text', text: 'See' }, { type: 'file', url: 'https://example.org/a.pdf', mediaType: 'application/pdf', filename: 'a.pdf' }] },
    assistant(step, call('a'), member)
  ], { ...options, toolName: (name) => name.toUpperCase() })
  t.equal(messages[0]?.role === 'user' && messages[0].content, 'See\n\n[File: a.pdf (application/pdf)]')
  t.match(messages.slice(1), [{ toolCalls: [{ callId: 'a', toolName: 'ROLL' }] }, { role: 'tool', toolName: 'ROLL' }])
  t.equal(messages.length, 3)
})

t.test('files are told of in their own words everywhere, images are shown with the newest question only', async (t) => {
  const image = { mediaType: 'image/png', base64: 'AA==' }
  const file = (fileId: string) => ({ type: 'file' as const, url: '/x', mediaType: 'image/png', filename: `${fileId}.png`, providerMetadata: { parley: { fileId } } })
  const question = (fileId: string): HistoryMessage => ({ role: 'user', status: 'completed', parts: [file(fileId)] })
  const attachments = new Map([['a', { text: '[File a]', image }], ['b', { text: '[File b]', image }]])
  t.strictSame(toModelMessages([question('a'), assistant(step, say('ok')), question('b'), question('gone')].slice(0, 3), { ...options, attachments }), [
    { role: 'user', content: '[File a]' },
    { role: 'assistant', text: 'ok', toolCalls: [] },
    { role: 'user', content: '[File b]', images: [image] }
  ])
  t.strictSame(toModelMessages([question('gone')], { ...options, attachments }), [{ role: 'user', content: '[File: gone.png (image/png)]' }])
})

t.test('a window of the newest messages never splits a call from its result and keeps the last question', async (t) => {
  const thread = [user('0'), assistant(step, call('a'), step, say('x')), user('1'), assistant(step, call('b')), user('2'), assistant(step, call('c'))]
  for (let max = 1; max <= thread.length + 1; max++) {
    const kept = limitHistory(thread, max)
    t.strictSame(check(toModelMessages(kept, options)), [], `${max} messages`)
    t.ok(kept.includes(thread[4] as HistoryMessage), `${max} messages: the last question is there`)
    t.ok(kept.length <= Math.max(max, 2))
  }
  t.equal(limitHistory(thread, undefined), thread)
  t.strictSame(limitHistory([assistant(say('a')), assistant(say('b'))], 1), [assistant(say('b'))])
})
