import { setImmediate as settled } from 'node:timers/promises'
import t from 'tap'
import { createRefreshedValue } from '../../../src/tools/refreshed-value.ts'

t.test('a value is fetched once, also for many who ask at once, and kept', async (t) => {
  const { value, loads, pass } = world()
  t.strictSame(await Promise.all([value.get(), value.get(), value.get()]), [1, 1, 1])
  pass(719)
  t.equal(await value.get(), 1)
  t.equal(loads(), 1)
})

t.test('a value that grows old is given while a new one is fetched', async (t) => {
  const { value, loads, pass } = world()
  await value.get()
  pass(720)
  t.strictSame(await Promise.all([value.get(), value.get()]), [1, 1])
  await settled()
  t.equal(loads(), 2)
  t.equal(await value.get(), 2)
  pass(719)
  t.equal(await value.get(), 2, 'its age counts from when it was fetched')
})

t.test('a value that is too old is not given any more', async (t) => {
  const { value, pass } = world()
  await value.get()
  pass(900)
  t.equal(await value.get(), 2)
})

t.test('a refresh that fails is told and costs nobody the value, until it is too old', async (t) => {
  const { value, fail, failures, pass } = world()
  await value.get()
  fail(true)
  pass(720)
  t.equal(await value.get(), 1)
  await settled()
  t.match(failures, [{ message: 'down' }])
  pass(179)
  t.equal(await value.get(), 1)
  pass(1)
  await t.rejects(value.get(), { message: 'down' })
  fail(false)
  t.equal(await value.get(), 4, 'the next to ask tries again')
})

t.test('an outdated value is given once more and fetched again, also when it was outdated on its way', async (t) => {
  const { value, loads } = world()
  const first = value.get()
  value.outdate()
  t.equal(await first, 1)
  t.equal(await value.get(), 1)
  await settled()
  t.equal(loads(), 2)
  t.equal(await value.get(), 2)
  t.equal(loads(), 2)
  value.outdate()
  await value.get()
  await settled()
  t.equal(await value.get(), 3)
})

function world () {
  let time = 0
  let loads = 0
  let failing = false
  const failures: unknown[] = []
  const load = async () => {
    loads++
    if (failing) throw new Error('down')
    return loads
  }
  const value = createRefreshedValue({ load, keepMs: 900, refreshMs: 720, now: () => time, onRefreshFailure: (error) => failures.push(error) })
  return { value, failures, loads: () => loads, fail: (yes: boolean) => { failing = yes }, pass: (ms: number) => { time += ms } }
}
