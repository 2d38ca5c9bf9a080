import t from 'tap'
import { createAssembler } from '../../../src/messages/assembler.ts'
import { closeParts, isUnanswered } from '../../../src/messages/close-parts.ts'
import { toModelMessages } from '../../../src/messages/history.ts'
import { messagePartSchema, type MessagePart } from '../../../src/messages/parts.ts'
import { validateMessages } from '../../helpers/ai-clients.ts'
import { asJson, assemble, started } from '../../helpers/run-events.ts'

t.test('text, reasoning and tools keep the order in which they came', async (t) => {
  t.strictSame(asJson(assemble([
    started, { type: 'step-start', step: 1 },
    { type: 'reasoning-start', blockId: 'r1' }, { type: 'reasoning-delta', blockId: 'r1', delta: 'Hm' }, { type: 'reasoning-end', blockId: 'r1' },
    { type: 'text-start', blockId: 'b1' }, { type: 'text-delta', blockId: 'b1', delta: 'Wai' }, { type: 'text-delta', blockId: 'b1', delta: 't' }, { type: 'text-end', blockId: 'b1' },
    { type: 'tool-call-start', callId: 'c1', toolName: 'roll', title: 'Roll' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: {} }, { type: 'tool-output', callId: 'c1', output: 6 },
    { type: 'step-end', step: 1 }
  ])), [
    { type: 'step-start' }, { type: 'reasoning', id: 'r1', text: 'Hm', state: 'done' }, { type: 'text', text: 'Wait', state: 'done' },
    { type: 'tool-roll', toolCallId: 'c1', state: 'output-available', input: {}, output: 6 }
  ])
})

t.test('parts handed out do not change with later events', async (t) => {
  const assembler = createAssembler()
  assembler.apply({ type: 'text-start', blockId: 'b1' })
  assembler.apply({ type: 'text-delta', blockId: 'b1', delta: 'one' })
  const early = assembler.parts()
  assembler.apply({ type: 'text-delta', blockId: 'b1', delta: ' two' })
  t.strictSame(early, [{ type: 'text', text: 'one', state: 'streaming' }])
  t.equal(assembler.text(), 'one two')
})

t.test('a continued run goes on from the parts it is given and leaves them alone', async (t) => {
  const initial: MessagePart[] = [{ type: 'step-start' }, { type: 'tool-ask', toolCallId: 'c1', state: 'input-available', input: {} }]
  const parts = assemble([{ type: 'tool-output', callId: 'c1', output: 'yes' }, { type: 'step-start', step: 2 }], initial)
  t.match(parts, [{ type: 'step-start' }, { state: 'output-available', output: 'yes' }, { type: 'step-start' }])
  t.match(initial[1], { state: 'input-available' })
})

t.test('a call id that comes back in a later step is a call of its own', async (t) => {
  const call = (output: number) => [
    { type: 'tool-call-start', callId: 'c1', toolName: 'roll' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'roll', input: { output } }, { type: 'tool-output', callId: 'c1', output }
  ] as const
  const parts = assemble([{ type: 'step-start', step: 1 }, ...call(1), { type: 'step-start', step: 2 }, ...call(2)])
  t.match(parts, [{ type: 'step-start' }, { output: 1 }, { type: 'step-start' }, { output: 2 }])
})

t.test('events of unknown blocks and calls change nothing', async (t) => {
  t.strictSame(assemble([
    { type: 'text-delta', blockId: 'x', delta: 'a' }, { type: 'reasoning-end', blockId: 'x' }, { type: 'tool-input-delta', callId: 'x', delta: '1' }, { type: 'tool-output', callId: 'x', output: 1 },
    { type: 'tool-error', callId: 'x', code: 'tool_failed', message: 'm' }, { type: 'tool-denied', callId: 'x' }, { type: 'approval-requested', approvalId: 'a', callId: 'x', expiresAt: '' }
  ]), [])
})

t.test('a failed run leaves its error in the message', async (t) => {
  const failure = { code: 'provider_timeout', message: 'Too slow.', retryable: true, ref: '00000000' } as const
  for (const type of ['run-failed', 'run-interrupted'] as const) t.strictSame(assemble([{ type, ...failure }]), [{ type: 'data-error', data: failure }])
})

t.test('closing leaves done text and answered calls, which clients accept', async (t) => {
  const open: MessagePart[] = [
    { type: 'step-start' },
    { type: 'text', text: 'So f', state: 'streaming' },
    { type: 'reasoning', id: 'r', text: 'Hm', state: 'streaming' },
    { type: 'tool-a', toolCallId: '1', state: 'input-streaming', input: undefined, rawInput: '{"n":' },
    { type: 'dynamic-tool', toolName: 'b', toolCallId: '2', state: 'input-streaming', input: undefined },
    { type: 'tool-c', toolCallId: '3', state: 'input-available', input: { n: 1 }, callProviderMetadata: { parley: { handoff: 'x' } } },
    { type: 'tool-d', toolCallId: '4', state: 'approval-requested', input: {}, approval: { id: 'a' } },
    { type: 'tool-e', toolCallId: '5', state: 'output-available', input: {}, output: 'half', preliminary: true },
    { type: 'tool-f', toolCallId: '6', state: 'output-available', input: {}, output: 'whole' },
    { type: 'tool-g', toolCallId: '7', state: 'output-error', input: {}, errorText: 'No.' }
  ]
  const closed = asJson(closeParts(open, 'The run was interrupted.'))
  t.strictSame(closed, [
    { type: 'step-start' },
    { type: 'text', text: 'So f', state: 'done' },
    { type: 'reasoning', id: 'r', text: 'Hm', state: 'done' },
    { type: 'tool-a', toolCallId: '1', state: 'output-error', input: '{"n":', rawInput: '"{\\"n\\":"', errorText: 'The run was interrupted.' },
    { type: 'dynamic-tool', toolName: 'b', toolCallId: '2', state: 'output-error', input: null, errorText: 'The run was interrupted.' },
    { type: 'tool-c', toolCallId: '3', state: 'output-error', input: { n: 1 }, errorText: 'The run was interrupted.', callProviderMetadata: { parley: { handoff: 'x' } } },
    { type: 'tool-d', toolCallId: '4', state: 'output-denied', input: {}, approval: { id: 'a', approved: false, reason: 'The run was interrupted.' } },
    { type: 'tool-e', toolCallId: '5', state: 'output-error', input: {}, errorText: 'The run was interrupted.' },
    { type: 'tool-f', toolCallId: '6', state: 'output-available', input: {}, output: 'whole' },
    { type: 'tool-g', toolCallId: '7', state: 'output-error', input: {}, errorText: 'No.' }
  ])
  t.match(open[1], { state: 'streaming' })
  t.strictSame(messagePartSchema.array().parse(closed), closed)
  for (const client of ['ai6', 'ai7'] as const) await t.resolves(validateMessages(client, [{ id: 'a', role: 'assistant', parts: closed }]))
  // Version 5 knows no approvals.
  await t.resolves(validateMessages('ai5', [{ id: 'a', role: 'assistant', parts: closed.filter((part) => !('state' in part) || part.state !== 'output-denied') }]))
})

t.test('a call counts as answered only by a final result', async (t) => {
  const call = { type: 'tool-a' as const, toolCallId: '1', input: {} }
  t.equal(isUnanswered({ ...call, state: 'input-available' }), true)
  t.equal(isUnanswered({ ...call, state: 'approval-responded' }), true)
  t.equal(isUnanswered({ ...call, state: 'output-available', output: 1, preliminary: true }), true)
  t.equal(isUnanswered({ ...call, state: 'output-available', output: 1 }), false)
  t.equal(isUnanswered({ ...call, state: 'output-denied' }), false)
})

t.test('what a crash leaves of a member’s call is not told to the coordinator’s model as its own', async (t) => {
  const agentPath = [{ agentId: 'a1', name: 'Researcher', toolCallId: 'd1' }]
  const left = assemble([started, { type: 'tool-call-start', callId: 'c1', toolName: 'look', agentPath }, { type: 'tool-input-delta', callId: 'c1', delta: '{"at', agentPath }])
  const parts = closeParts(left, 'The run was interrupted.')
  t.match(parts, [{ type: 'tool-look', state: 'output-error', callProviderMetadata: { parley: { agent: 'Researcher', parentToolCallId: 'd1' } } }])
  t.strictSame(toModelMessages([{ role: 'assistant', status: 'interrupted', parts }], { toolOutputLimit: 0 }), [])
})
