import t from 'tap'
import type { RunEvent } from '../../../../src/events/run-event.ts'
import { createMemoryRunLog } from '../../../../src/runs/memory/memory-run-log.ts'
import { runLogContract } from '../../../contracts/run-log.ts'
import { started } from '../../../helpers/run-events.ts'

runLogContract(t, async (t, { graceMs }) => {
  // Small enough to fold all the time.
  const log = createMemoryRunLog({ graceMs, foldAt: 32, maxPiece: 40 })
  t.teardown(() => log.close())
  return log
})

t.test('a reader far behind is handed bounded batches, never all that it missed', async (t) => {
  const log = createMemoryRunLog({ graceMs: 60_000 })
  t.teardown(() => log.close())
  const delta = 'x'.repeat(100)
  await log.append('run-1', [started])
  for (let i = 0; i < 1_000; i++) await log.append('run-1', Array.from({ length: 100 }, () => ({ type: 'text-delta' as const, blockId: 'b', delta })))
  await log.append('run-1', [{ type: 'run-completed' }])
  let total = 0
  let largest = 0
  for await (const batch of log.follow('run-1', { after: -1, signal: new AbortController().signal })) {
    const characters = batch.reduce((sum: number, event: RunEvent) => sum + ('delta' in event ? event.delta.length : 0), 0)
    total += characters
    largest = Math.max(largest, characters)
  }
  t.equal(total, 10_000_000)
  t.ok(largest <= 150_000, `${largest} characters at once`)
})

t.test('events are stamped with the time they were appended', async (t) => {
  const log = createMemoryRunLog({ graceMs: 0, now: () => new Date('2026-01-02T03:04:05.678Z') })
  t.teardown(() => log.close())
  await log.append('run-1', [started])
  const reader = log.follow('run-1', { after: -1, signal: new AbortController().signal })[Symbol.asyncIterator]()
  t.match(await reader.next(), { value: [{ at: '2026-01-02T03:04:05.678Z' }] })
})
