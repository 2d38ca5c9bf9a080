import t from 'tap'
import { checkOrder } from '../../../src/events/order.ts'
import { partsToEvents } from '../../../src/messages/replay.ts'
import { assemble, asJson, ended, started } from '../../helpers/run-events.ts'
import type { MessagePart } from '../../../src/messages/parts.ts'

const parts: readonly MessagePart[] = [
  { type: 'step-start' },
  { type: 'text', text: 'Look', state: 'done' },
  { type: 'tool-a', toolCallId: '1', state: 'approval-requested', input: {}, approval: { id: 'ap' } },
  { type: 'dynamic-tool', toolName: 'b', toolCallId: '2', state: 'output-error', input: {}, errorText: 'No.', callProviderMetadata: { parley: { handoff: 'x' } } },
  { type: 'tool-c', toolCallId: '3', state: 'output-denied', input: {}, approval: { id: 'ap2', approved: false, reason: 'No.' } },
  { type: 'step-start' },
  { type: 'text', text: 'Do', state: 'streaming' }
]

t.test('stored parts come back from the events made of them', async (t) => {
  t.strictSame(asJson(assemble(partsToEvents(parts, { end: 'open' }))), asJson(parts))
})

t.test('a closed replay is a whole run between its start and its end', async (t) => {
  const finished = parts.slice(0, 2)
  t.strictSame(checkOrder([started, ...partsToEvents(finished), ended(), { type: 'run-completed' }]), [])
  t.strictSame(partsToEvents(finished), [
    { type: 'step-start', step: 1 }, { type: 'text-start', blockId: 'replay-1' }, { type: 'text-delta', blockId: 'replay-1', delta: 'Look' }, { type: 'text-end', blockId: 'replay-1' }, { type: 'step-end', step: 1 }
  ])
})

t.test('an open replay leaves the last step and its text open', async (t) => {
  t.strictSame(partsToEvents(parts, { end: 'open' }).slice(-3), [{ type: 'step-start', step: 2 }, { type: 'text-start', blockId: 'replay-6' }, { type: 'text-delta', blockId: 'replay-6', delta: 'Do' }])
})
