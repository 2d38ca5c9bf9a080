import t, { type Test } from 'tap'
import { RunStopped } from '../../../src/errors.ts'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { createMemoryRunLog } from '../../../src/runs/memory/memory-run-log.ts'
import { createRunRegistry, type RunRegistry, type RunSpec } from '../../../src/runs/run-registry.ts'
import { delay, untilAborted } from '../../../src/streams/abort.ts'
import { until } from '../../helpers/app.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { started } from '../../helpers/run-events.ts'
import { alice, bob, otherAlice } from '../../contracts/turns.ts'

const noSignal = new AbortController().signal
const completed: RunEventBody = { type: 'run-completed' }

t.test('a run has begun when its first event can be read, and readers get all of it', async (t) => {
  const { registry } = create(t)
  await registry.reserve('run-1').start(spec({ events: () => play([started], [text('a')], [completed]) }))
  t.strictSame(await typesOf(registry, 'run-1'), ['message-start', 'text-delta', 'run-completed'])
  await until('over', () => registry.running === 0)
  t.strictSame(await typesOf(registry, 'run-1'), ['message-start', 'text-delta', 'run-completed'], 'also when it is over')
})

t.test('a run that cannot begin is an error of its start and leaves nothing behind', async (t) => {
  const { registry } = create(t)
  const reservation = registry.reserve('run-1')
  await t.rejects(reservation.start(spec({ events: () => broken() })), { message: 'cannot begin' })
  t.equal(registry.running, 0)
  t.equal(registry.isRunning('run-1'), false)
  let closed = false
  await t.rejects(registry.reserve('run-2').start(spec({
    record: async () => { throw new Error('cannot be recorded') },
    events: async function * () { try { yield [started]; yield [completed] } finally { closed = true } }
  })), { message: 'cannot be recorded' })
  t.ok(closed, 'its source is closed')

  async function * broken (): AsyncGenerator<RunEventBody[]> {
    throw new Error('cannot begin')
  }
})

t.test('what the recorder returns is what readers see, and nothing follows an end it put there', async (t) => {
  const { registry } = create(t)
  let closed = false
  await registry.reserve('run-1').start(spec({
    record: async (events) => events.some(({ type }) => type === 'text-delta') ? [{ type: 'run-stopped', reason: 'gone' }] : events,
    events: async function * () { try { yield [started]; yield [text('a')]; yield [completed] } finally { closed = true } }
  }))
  t.strictSame(await typesOf(registry, 'run-1'), ['message-start', 'run-stopped'])
  await until('closed', () => closed)
})

t.test('whoever reserved a run can end it, and only while it runs', async (t) => {
  const { registry } = create(t)
  const reservation = registry.reserve('run-1')
  reservation.abort(new Error('too early'))
  let reason: unknown
  await reservation.start(spec({
    events: async function * (signal) {
      yield [started]
      await untilAborted(new Promise(() => {}), signal).catch((error: unknown) => { reason = error })
      yield [completed]
    }
  }))
  reservation.abort(new RunStopped('its row is lost'))
  await until('over', () => registry.running === 0)
  t.match(reason, { reason: 'its row is lost' })
  reservation.abort(new Error('too late'))
})

t.test('a run that is lost on the way ends as failed for its readers', async (t) => {
  const { registry, log } = create(t)
  await registry.reserve('run-1').start(spec({ events: async function * () { yield [started]; throw new Error('a bug') } }))
  const events = await readAll(registry, 'run-1')
  t.match(events.at(-1), { type: 'run-failed', code: 'unknown', message: /went wrong/ })
  t.ok(log.lines.some(({ level, message }) => level === 'error' && message === 'a run was lost'))
  await until('over', () => registry.running === 0)
})

t.test('readers who come while a run is reserved wait for it', async (t) => {
  const { registry } = create(t)
  const reservation = registry.reserve('run-1')
  t.equal(registry.isRunning('run-1'), true)
  const reading = typesOf(registry, 'run-1')
  await delay(5)
  await reservation.start(spec({ events: () => play([started], [completed]) }))
  t.strictSame(await reading, ['message-start', 'run-completed'])
})

t.test('a reservation that comes to nothing lets those who wait go', async (t) => {
  const { registry } = create(t)
  const reservation = registry.reserve('run-1')
  const reading = typesOf(registry, 'run-1')
  const stopping = registry.stop('run-1', new RunStopped('user'))
  reservation.release()
  t.strictSame(await reading, [])
  t.equal(await stopping, false)
  t.equal(registry.isRunning('run-1'), false)
})

t.test('stop aborts the run with the reason and resolves when it has ended; again it is false', async (t) => {
  const { registry } = create(t)
  await registry.reserve('run-1').start(hanging())
  t.equal(registry.isRunning('run-1'), true)
  t.strictSame(await Promise.all([registry.stop('run-1', new RunStopped('first')), registry.stop('run-1', new RunStopped('second'))]), [true, true])
  t.equal(registry.isRunning('run-1'), false)
  t.equal(await registry.stop('run-1', new RunStopped('third')), false)
  t.match((await readAll(registry, 'run-1')).at(-1), { type: 'run-stopped', reason: 'first' })
  t.equal(await registry.stop('unknown', new RunStopped('x')), false)
})

t.test('readers may leave and come: the run goes on', async (t) => {
  const { registry } = create(t)
  await registry.reserve('run-1').start(hanging())
  const reader = registry.follow('run-1', { after: -1, signal: noSignal })[Symbol.asyncIterator]()
  t.match(await reader.next(), { value: [{ type: 'message-start' }] })
  await reader.return?.()
  t.equal(registry.isRunning('run-1'), true)
  await registry.stop('run-1', new RunStopped('user'))
})

t.test('a run of onDisconnect "stop" ends when its last reader leaves, and not before', async (t) => {
  const { registry } = create(t)
  await registry.reserve('run-1').start(hanging({ onDisconnect: 'stop' }))
  const [first, second] = [new AbortController(), new AbortController()]
  const reading = [first, second].map(({ signal }) => typesOf(registry, 'run-1', signal))
  await delay(5)
  first.abort()
  await reading[0]
  await delay(5)
  t.equal(registry.isRunning('run-1'), true)
  second.abort()
  await reading[1]
  await until('stopped', () => !registry.isRunning('run-1'))
  t.match((await readAll(registry, 'run-1')).at(-1), { type: 'run-stopped', reason: 'the client left' })
})

t.test('a run is known to its owner alone, while it runs and for the grace time', async (t) => {
  const { registry } = create(t, 40)
  await registry.reserve('run-1').start(hanging({ initialParts: [{ type: 'text', text: 'before' }] }))
  t.match(registry.known(alice, 'run-1'), { running: true, initialParts: [{ text: 'before' }] })
  t.equal(registry.known(bob, 'run-1'), undefined)
  t.equal(registry.known(otherAlice, 'run-1'), undefined)
  await registry.stop('run-1', new RunStopped('user'))
  t.match(registry.known(alice, 'run-1'), { running: false })
  await until('forgotten', () => registry.known(alice, 'run-1') === undefined)
})

t.test('draining refuses new runs and waits for those that run and those that are about to', async (t) => {
  const { registry } = create(t)
  let finish: () => void = () => {}
  const finished = new Promise<void>((resolve) => { finish = resolve })
  const reservation = registry.reserve('run-1')
  let drained = false
  const draining = registry.drain(60_000).then(() => { drained = true })
  t.throws(() => registry.reserve('run-2'), { code: 'shutting_down' })
  await reservation.start(spec({ events: async function * () { yield [started]; await finished; yield [completed] } }))
  await delay(5)
  t.equal(drained, false)
  finish()
  await draining
  t.strictSame(await typesOf(registry, 'run-1'), ['message-start', 'run-completed'])
})

t.test('a drain that has waited long enough interrupts what still runs', async (t) => {
  const { registry } = create(t)
  await registry.reserve('run-1').start(hanging())
  await registry.drain(10)
  t.equal(registry.running, 0)
  t.match((await readAll(registry, 'run-1')).at(-1), { type: 'run-stopped', reason: /shutting down/ })
})

function create (t: Test, graceMs = 60_000) {
  const log = recordingLog()
  const runLog = createMemoryRunLog({ graceMs })
  t.teardown(() => runLog.close())
  return { registry: createRunRegistry({ runLog, log, graceMs }), log }
}

function spec (fields: Partial<RunSpec>): RunSpec {
  return { principal: alice, threadId: 'thread-1', messageId: 'answer-1', onDisconnect: 'continue', initialParts: [], events: () => play([started], [completed]), ...fields }
}

/** A run that goes on until it is aborted, and says why it was. */
function hanging (fields: Partial<RunSpec> = {}): RunSpec {
  return spec({
    ...fields,
    events: async function * (signal) {
      yield [started]
      try {
        await untilAborted(new Promise(() => {}), signal)
      } catch (error) {
        yield [{ type: 'run-stopped', reason: error instanceof RunStopped ? error.reason : (error as Error).message }]
      }
    }
  })
}

async function * play (...batches: RunEventBody[][]): AsyncGenerator<RunEventBody[]> {
  for (const batch of batches) yield batch
}

function text (delta: string): RunEventBody {
  return { type: 'text-delta', blockId: 'b', delta }
}

async function readAll (registry: RunRegistry, runId: string, signal = noSignal): Promise<RunEventBody[]> {
  const events: RunEventBody[] = []
  for await (const batch of registry.follow(runId, { after: -1, signal })) events.push(...batch)
  return events
}

async function typesOf (registry: RunRegistry, runId: string, signal = noSignal): Promise<string[]> {
  return (await readAll(registry, runId, signal)).map(({ type }) => type)
}
