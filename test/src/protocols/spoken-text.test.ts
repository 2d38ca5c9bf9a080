import t from 'tap'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { createSpokenText } from '../../../src/protocols/spoken-text.ts'
import { stamped } from '../../helpers/run-events.ts'

const member = [{ agentId: 'a2', name: 'helper', toolCallId: 'c1' }]
const block = (kind: 'text' | 'reasoning', blockId: string, ...deltas: string[]): RunEventBody[] =>
  [{ type: `${kind}-start`, blockId }, ...deltas.map((delta): RunEventBody => ({ type: `${kind}-delta`, blockId, delta })), { type: `${kind}-end`, blockId }]

function spoken (events: readonly RunEventBody[], kind?: 'text' | 'reasoning'): string {
  return stamped(events).map(createSpokenText(kind)).join('')
}

t.test('blocks are joined by a blank line, empty ones by nothing', async (t) => {
  const events = [...block('text', '1', 'One ', 'two.'), ...block('text', '2', ''), ...block('reasoning', '3', 'Hm.'), ...block('text', '4', 'Three.'), ...block('reasoning', '5', 'So.')]
  t.equal(spoken(events), 'One two.\n\nThree.')
  t.equal(spoken(events, 'reasoning'), 'Hm.\n\nSo.')
})

t.test('what members say is not part of the answer', async (t) => {
  t.equal(spoken([...block('text', '1', 'Mine.'), ...block('text', '2', 'Theirs.').map((event) => ({ ...event, agentPath: member }))]), 'Mine.')
})

t.test('a snapshot is said at once, and what it caught open goes on without a break', async (t) => {
  const parts = [{ type: 'step-start' }, { type: 'text', text: 'One.', state: 'done' }, { type: 'reasoning', text: 'Hm.', state: 'done' }, { type: 'text', text: 'Tw', state: 'streaming' }]
  t.equal(spoken([{ type: 'snapshot', parts }, { type: 'text-delta', blockId: 'b9', delta: 'o.' }, ...block('text', '2', 'Three.')]), 'One.\n\nTwo.\n\nThree.')
})
