import t, { type Test } from 'tap'
import { createCheckpointer, type CheckpointSource } from '../../../src/runs/checkpointer.ts'
import { delay } from '../../../src/streams/abort.ts'
import { until } from '../../helpers/app.ts'
import { recordingLog, savingTurns, turnsWith } from '../../helpers/memory-turns.ts'

const holder = 'host/1/a'

t.test('all runs that have something new are saved in one transaction, and nothing is saved while nothing changes', async (t) => {
  const { checkpointer, transactions } = create(t)
  checkpointer.touch(source('run-1'))
  checkpointer.touch(source('run-2'))
  checkpointer.touch(source('run-1'))
  await until('saved', () => transactions.length === 1)
  t.strictSame(transactions[0]?.map(({ runId }) => runId), ['run-1', 'run-2'])
  await delay(40)
  t.equal(transactions.length, 1)
  checkpointer.touch(source('run-2'))
  await until('saved again', () => transactions.length === 2)
})

t.test('what is saved is how it is when it is saved, not when it was touched', async (t) => {
  const { checkpointer, transactions } = create(t)
  let text = 'early'
  checkpointer.touch({ ...source('run-1'), snapshot: () => ({ runId: 'run-1', messageId: 'm', parts: [{ type: 'text', text }], processingMs: 5 }) })
  text = 'late'
  await until('saved', () => transactions.length === 1)
  t.match(transactions[0], [{ parts: [{ text: 'late' }] }])
})

t.test('a run that changes while it is saved is saved once more', async (t) => {
  let release: () => void = () => {}
  let saves = 0
  const turns = turnsWith({
    checkpoint: async () => {
      saves++
      await new Promise<void>((resolve) => { release = resolve })
      return []
    }
  })
  const checkpointer = createCheckpointer({ turns, holder, log: recordingLog(), everyMs: 5 })
  checkpointer.touch(source('run-1'))
  await until('being saved', () => saves === 1)
  checkpointer.touch(source('run-1'))
  await delay(20)
  t.equal(saves, 1, 'one transaction at a time')
  release()
  await until('saved again', () => saves === 2)
  release()
  await checkpointer.close()
})

t.test('a run that has ended is not saved any more', async (t) => {
  const { checkpointer, transactions } = create(t)
  checkpointer.touch(source('run-1'))
  checkpointer.forget('run-1')
  await delay(30)
  t.strictSame(transactions, [])
})

t.test('a failed save is tried again with all its runs', async (t) => {
  const { checkpointer, transactions, log } = create(t, { failures: 2 })
  checkpointer.touch(source('run-1'))
  checkpointer.touch(source('run-2'))
  await until('saved', () => transactions.length === 1)
  t.strictSame(transactions[0]?.map(({ runId }) => runId), ['run-1', 'run-2'])
  t.strictSame(log.lines.map(({ level, message }) => [level, message]), Array(2).fill(['warn', 'saving running messages failed']))
})

t.test('a run that ends while its save fails is not tried again', async (t) => {
  let fail: () => void = () => {}
  let saves = 0
  const turns = turnsWith({
    checkpoint: async () => {
      saves++
      return await new Promise<never>((_resolve, reject) => { fail = () => { reject(new Error('away')) } })
    }
  })
  const checkpointer = createCheckpointer({ turns, holder, log: recordingLog(), everyMs: 5 })
  t.teardown(() => checkpointer.close())
  checkpointer.touch(source('run-1'))
  await until('being saved', () => saves === 1)
  checkpointer.forget('run-1')
  fail()
  await delay(30)
  t.equal(saves, 1)
})

t.test('a store that fails for longer than is bearable fails the runs that wait for it', async (t) => {
  const { checkpointer, transactions } = create(t, { failures: Infinity, patienceMs: 40 })
  const failed: Error[] = []
  const begun = performance.now()
  checkpointer.touch({ ...source('run-1'), onFailure: (error) => { failed.push(error) } })
  await until('given up', () => failed.length > 0)
  t.ok(performance.now() - begun >= 40)
  t.match(failed, [{ code: 'storage_unavailable' }])
  await delay(30)
  t.equal(failed.length, 1, 'once')
  t.strictSame(transactions, [])
})

t.test('a failure long ago takes nothing from the patience of today', async (t) => {
  const { checkpointer, transactions, failFor, log } = create(t, { failures: 1, patienceMs: 60 })
  checkpointer.touch(source('old-run'))
  await until('one failure', () => log.lines.length === 1)
  checkpointer.forget('old-run')
  await delay(80)
  failFor(1)
  const failed: Error[] = []
  checkpointer.touch({ ...source('new-run'), onFailure: (error) => { failed.push(error) } })
  await until('saved', () => transactions.length === 1 || failed.length > 0)
  t.strictSame(failed, [])
})

t.test('a run whose row is gone or somebody else\'s is told', async (t) => {
  const { checkpointer } = create(t, { lost: ['run-2'] })
  const lost: string[] = []
  for (const runId of ['run-1', 'run-2']) checkpointer.touch({ ...source(runId), onLost: () => { lost.push(runId) } })
  await until('told', () => lost.length > 0)
  t.strictSame(lost, ['run-2'])
})

t.test('a very long message is saved less often, and holds back no other', async (t) => {
  const { checkpointer, transactions } = create(t)
  const long = { ...source('long'), characters: () => 200_000 }
  const begun = performance.now()
  const timer = setInterval(() => {
    checkpointer.touch(long)
    checkpointer.touch(source('short'))
  }, 1)
  t.teardown(() => { clearInterval(timer) })
  await until('the long one is saved twice', () => transactions.flat().filter(({ runId }) => runId === 'long').length === 2)
  t.ok(performance.now() - begun >= 200)
  t.ok(transactions.flat().filter(({ runId }) => runId === 'short').length > 2)
})

t.test('closing waits for the save that is on its way and starts no other, whether it fails or not', async (t) => {
  for (const outcome of ['saved', 'failed']) {
    let settle: () => void = () => {}
    let saves = 0
    const turns = turnsWith({
      checkpoint: async () => {
        saves++
        await new Promise<void>((resolve) => { settle = resolve })
        if (outcome === 'failed') throw new Error('away')
        return []
      }
    })
    const checkpointer = createCheckpointer({ turns, holder, log: recordingLog(), everyMs: 5 })
    checkpointer.touch(source('run-1'))
    await until('being saved', () => saves === 1)
    checkpointer.touch(source('run-2'))
    let closed = false
    const closing = checkpointer.close().then(() => { closed = true })
    await delay(10)
    t.equal(closed, false)
    settle()
    await closing
    checkpointer.touch(source('run-3'))
    await delay(30)
    t.equal(saves, 1, outcome)
  }
})

function create (t: Test, { patienceMs = 5_000, ...store }: { failures?: number, lost?: readonly string[], patienceMs?: number } = {}) {
  const log = recordingLog()
  const saving = savingTurns(store)
  const checkpointer = createCheckpointer({ turns: saving.turns, holder, log, everyMs: 5, patienceMs })
  t.teardown(() => checkpointer.close())
  return { checkpointer, log, ...saving }
}

function source (runId: string): CheckpointSource {
  return { runId, snapshot: () => ({ runId, messageId: `${runId}-answer`, parts: [], processingMs: 5 }), characters: () => 0, onLost: () => {}, onFailure: () => {} }
}
