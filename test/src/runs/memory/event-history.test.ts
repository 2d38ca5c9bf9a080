import t from 'tap'
import type { RunEvent, RunEventBody } from '../../../../src/events/run-event.ts'
import { createEventHistory, type EventHistory } from '../../../../src/runs/memory/event-history.ts'
import { seeded } from '../../../helpers/random-run.ts'
import { stamped } from '../../../helpers/run-events.ts'

const limits = { foldAt: 16, maxPiece: 50 }

t.test('however it was folded, reading from any position with any limit gives the same text', async (t) => {
  for (let seed = 1; seed <= 30; seed++) {
    const events = stamped(randomDeltas(seeded(seed), 200))
    const history = historyOf(events)
    t.equal(history.nextSeq(), events.length)
    for (let seq = 0; seq <= events.length; seq++) {
      const read = readFrom(history, seq, { maxEvents: 1 + (seq % 9), maxCharacters: 1 + (seq % 120) })
      if (textOf(read) !== textOf(events.slice(seq))) t.fail(`seed ${seed}, from ${seq}`)
    }
  }
  t.pass()
})

t.test('folding merges neighbouring deltas of one block only, and the last of them gives the piece its number', async (t) => {
  const bodies: RunEventBody[] = [
    { type: 'text-delta', blockId: 'a', delta: '1' }, { type: 'text-delta', blockId: 'a', delta: '2' },
    { type: 'text-delta', blockId: 'b', delta: '3' }, { type: 'reasoning-delta', blockId: 'b', delta: '4' },
    { type: 'tool-input-delta', callId: 'c', delta: '5' }, { type: 'tool-input-delta', callId: 'c', delta: '6' },
    { type: 'tool-input-delta', callId: 'd', delta: '7' }, { type: 'text-end', blockId: 'b' },
    { type: 'text-delta', blockId: 'a', delta: '8' }, { type: 'text-delta', blockId: 'a', delta: '9' },
    ...Array.from({ length: 6 }, (): RunEventBody => ({ type: 'data', name: 'x', data: 1 }))
  ]
  const pieces = readFrom(historyOf(stamped(bodies)), 0, { maxEvents: 100, maxCharacters: 1_000 }).slice(0, 7)
  t.strictSame(pieces.map((event) => [event.seq, 'delta' in event ? event.delta : event.type]),
    [[1, '12'], [2, '3'], [3, '4'], [5, '56'], [6, '7'], [7, 'text-end'], [9, '89']])
})

t.test('deltas of members are not merged with the root\'s', async (t) => {
  const agentPath = [{ agentId: 'a', name: 'm', toolCallId: 'c' }]
  const bodies = Array.from({ length: 16 }, (_, index): RunEventBody => ({ type: 'text-delta', blockId: 'a', delta: 'x', ...(index % 2 === 0 ? {} : { agentPath }) }))
  t.equal(readFrom(historyOf(stamped(bodies)), 0, { maxEvents: 100, maxCharacters: 1_000 }).length, 16)
})

t.test('a piece is of bounded size, and so is what one read gives', async (t) => {
  const history = historyOf(stamped(Array.from({ length: 160 }, (): RunEventBody => ({ type: 'text-delta', blockId: 'a', delta: 'x'.repeat(10) }))))
  const first = history.read(0, { maxEvents: 100, maxCharacters: 1_000 })
  for (const event of first) t.ok('delta' in event && event.delta.length <= limits.maxPiece + 10)
  t.equal(history.read(0, { maxEvents: 2, maxCharacters: 1_000 }).length, 2)
  t.equal(history.read(0, { maxEvents: 100, maxCharacters: 1 }).length, 1, 'one event is given whatever its size')
})

t.test('beyond the end there is nothing yet', async (t) => {
  const history = createEventHistory(limits)
  t.strictSame(history.read(0, { maxEvents: 10, maxCharacters: 10 }), [])
  t.equal(history.nextSeq(), 0)
})

function historyOf (events: readonly RunEvent[]): EventHistory {
  const history = createEventHistory(limits)
  for (const event of events) history.push(event)
  return history
}

function randomDeltas (random: () => number, count: number): RunEventBody[] {
  return Array.from({ length: count }, (_, index): RunEventBody => {
    const delta = `${index};`.repeat(Math.floor(random() * 3))
    const kind = random()
    if (kind < 0.7) return { type: 'text-delta', blockId: random() < 0.9 ? 'a' : 'b', delta }
    if (kind < 0.85) return { type: 'tool-input-delta', callId: 'c', delta }
    return { type: 'data', name: 'x', data: index }
  })
}

function readFrom (history: EventHistory, seq: number, limit: { maxEvents: number, maxCharacters: number }): RunEvent[] {
  const events: RunEvent[] = []
  for (let batch = history.read(seq, limit); batch.length > 0; batch = history.read(events.at(-1)!.seq + 1, limit)) { // not empty any more
    if (batch.length > limit.maxEvents) throw new Error('more events than asked for')
    events.push(...batch)
  }
  return events
}

function textOf (events: readonly RunEventBody[]): string {
  return events.map((event) => 'delta' in event ? event.delta : `<${event.type}>`).join('')
}
