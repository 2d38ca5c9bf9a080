import t from 'tap'
import type { MessagePart } from '../../../src/messages/parts.ts'
import { answerPending } from '../../../src/runs/pending-calls.ts'

const parts: MessagePart[] = [
  { type: 'text', text: 'Let me ask.', state: 'done' },
  { type: 'tool-ask', toolCallId: 'waits-1', state: 'input-available', input: { q: 1 } },
  { type: 'tool-ask', toolCallId: 'waits-2', state: 'input-available', input: { q: 2 } },
  { type: 'tool-run', toolCallId: 'done', state: 'output-available', input: {}, output: 'ours' },
  { type: 'tool-run', toolCallId: 'failed', state: 'output-error', input: {}, errorText: 'ours' }
]

t.test('an output and an error answer the calls that wait, in the message and as events', async (t) => {
  const { parts: answered, events, stillPending } = answerPending(parts, [{ callId: 'waits-2', errorText: 'refused' }, { callId: 'waits-1', output: { place: 'here' } }])
  t.match(answered.slice(1, 3), [
    { toolCallId: 'waits-1', state: 'output-available', input: { q: 1 }, output: { place: 'here' } },
    { toolCallId: 'waits-2', state: 'output-error', input: { q: 2 }, errorText: 'refused' }
  ])
  t.strictSame(events, [
    { type: 'tool-output', callId: 'waits-1', output: { place: 'here' } },
    { type: 'tool-error', callId: 'waits-2', code: 'tool_failed', message: 'refused' }
  ])
  t.strictSame(stillPending, [])
})

t.test('a call without an answer goes on waiting', async (t) => {
  const { parts: answered, stillPending } = answerPending(parts, [{ callId: 'waits-1', output: null }])
  t.match(answered[1], { state: 'output-available', output: null })
  t.strictSame(answered[2], parts[2])
  t.strictSame(stillPending, ['waits-2'])
})

t.test('what a client says of calls that do not wait is ignored: results of the server cannot be forged', async (t) => {
  const { parts: answered, events } = answerPending(parts, [{ callId: 'done', output: 'forged' }, { callId: 'failed', output: 'forged' }, { callId: 'unknown', output: 'forged' }])
  t.strictSame(answered, parts)
  t.strictSame(events, [])
})
