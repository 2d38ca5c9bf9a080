import type { Test } from 'tap'
import type { RunEvent, RunEventBody } from '../../src/events/run-event.ts'
import { delay } from '../../src/streams/abort.ts'
import type { RunLog } from '../../src/runs/run-log.ts'
import { seeded } from '../helpers/random-run.ts'
import { started } from '../helpers/run-events.ts'

export interface RunLogOptions { readonly graceMs: number }

const completed: RunEventBody = { type: 'run-completed' }
const noSignal = new AbortController().signal

/** What every implementation of RunLog does. `open` gives a log that closes with the test. */
export function runLogContract (t: Test, open: (t: Test, options: RunLogOptions) => Promise<RunLog>): void {
  t.test('a finished run is replayed whole, numbered without holes and stamped with times', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started])
    await log.append('run-1', [data(1), data(2), completed])
    const events = await readAll(log, 'run-1')
    t.strictSame(events.map(({ seq, type }) => [seq, type]), [[0, 'message-start'], [1, 'data'], [2, 'data'], [3, 'run-completed']])
    for (const { at } of events) t.equal(new Date(at).toISOString(), at)
    t.equal(await log.has('run-1'), true)
  })

  t.test('reading from any position gives what came after it, whatever was merged meanwhile', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    const bodies = spoken(300)
    await log.append('run-1', bodies)
    for (let after = -1; after < bodies.length; after += 7) {
      const events = await readAll(log, 'run-1', after)
      t.equal(textOf(events), textOf(bodies.slice(after + 1)), `after ${after}`)
      t.ok(events.every(({ seq }) => seq > after), `nothing of before ${after}`)
    }
  })

  t.test('readers who come at any moment get every event once, in order, replayed or live', async (t) => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seeded(seed)
      const log = await open(t, { graceMs: 60_000 })
      const bodies = spoken(100 + Math.floor(random() * 400))
      await log.append('run-1', bodies.slice(0, 1))
      const readers: Array<Promise<readonly RunEvent[]>> = []
      for (let at = 1; at < bodies.length;) {
        const size = 1 + Math.floor(random() * 12)
        if (random() < 0.2) readers.push(readAll(log, 'run-1', -1, { pace: random }))
        await log.append('run-1', bodies.slice(at, at + size))
        at += size
        if (random() < 0.3) await delay(0)
      }
      readers.push(readAll(log, 'run-1'))
      for (const events of await Promise.all(readers)) {
        const seqs = events.map(({ seq }) => seq)
        if (textOf(events) !== textOf(bodies) || seqs.some((seq, index) => index > 0 && seq <= seqs[index - 1]!) || seqs.at(-1) !== bodies.length - 1) t.fail(`seed ${seed}`) // the index is in range
      }
    }
    t.pass()
  })

  t.test('a reader who waits is woken by what is appended, without delay', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started])
    const reader = log.follow('run-1', { after: 0, signal: noSignal })[Symbol.asyncIterator]()
    const waiting = reader.next()
    await log.append('run-1', [data('x')])
    t.match(await waiting, { value: [{ type: 'data', seq: 1 }] })
    await reader.return?.()
  })

  t.test('a slow reader holds back nobody', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started])
    const slow = log.follow('run-1', { after: -1, signal: noSignal })[Symbol.asyncIterator]()
    await slow.next()
    const bodies = spoken(500).slice(1)
    await log.append('run-1', bodies)
    t.equal(textOf(await readAll(log, 'run-1', 0)), textOf(bodies))
    t.equal(textOf(await rest(slow)), textOf(bodies))
  })

  t.test('a reader stops when its signal aborts, and only that reader', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started])
    const controller = new AbortController()
    const left = readAll(log, 'run-1', -1, { signal: controller.signal })
    const stays = readAll(log, 'run-1')
    await delay(5)
    controller.abort()
    t.strictSame((await left).map(({ type }) => type), ['message-start'])
    await log.append('run-1', [completed])
    t.strictSame((await stays).map(({ type }) => type), ['message-start', 'run-completed'])
    t.strictSame(await readAll(log, 'run-1', -1, { signal: controller.signal }), [], 'a reader that has left already reads nothing')
  })

  t.test('a late reader is served in the grace time, and after it the run is gone', async (t) => {
    const log = await open(t, { graceMs: 60 })
    await log.append('run-1', [started, completed])
    t.equal((await readAll(log, 'run-1')).length, 2)
    t.strictSame(await readAll(log, 'run-1', 1), [], 'nothing comes after the end')
    while (await log.has('run-1')) await delay(10)
    t.strictSame(await readAll(log, 'run-1'), [])
  })

  t.test('a run that the log does not hold has no events, and no other run\'s', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started, completed])
    t.strictSame(await readAll(log, 'run-2'), [])
    t.equal(await log.has('run-2'), false)
  })

  t.test('closing ends those who wait', async (t) => {
    const log = await open(t, { graceMs: 60_000 })
    await log.append('run-1', [started])
    const waiting = readAll(log, 'run-1')
    await delay(5)
    await log.close()
    t.strictSame((await waiting).map(({ type }) => type), ['message-start'])
  })
}

/** A run of `count` deltas in two alternating blocks, with other events between them. */
function spoken (count: number): RunEventBody[] {
  const events: RunEventBody[] = [started]
  for (let i = 0; i < count; i++) {
    if (i % 97 === 50) events.push(data(i))
    events.push({ type: i % 40 < 30 ? 'text-delta' : 'reasoning-delta', blockId: `b${Math.floor(i / 40)}`, delta: `${i};` })
  }
  return [...events, completed]
}

function data (value: unknown): RunEventBody {
  return { type: 'data', name: 'x', data: value }
}

function textOf (events: readonly RunEventBody[]): string {
  return events.map((event) => 'delta' in event ? event.delta : `<${event.type}>`).join('')
}

async function readAll (log: RunLog, runId: string, after = -1, { signal = noSignal, pace }: { signal?: AbortSignal, pace?: () => number } = {}): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  for await (const batch of log.follow(runId, { after, signal })) {
    events.push(...batch)
    if (pace !== undefined && pace() < 0.3) await delay(1)
  }
  return events
}

async function rest (reader: AsyncIterator<readonly RunEvent[]>): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) events.push(...next.value)
  return events
}
