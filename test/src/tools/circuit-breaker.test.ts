import t from 'tap'
import { createCircuitBreaker } from '../../../src/tools/circuit-breaker.ts'

t.test('calls are let through until half of at least three have failed', async (t) => {
  const { call } = world()
  t.strictSame([call('failed'), call('failed')], ['failed', 'failed'], 'two prove nothing')
  t.equal(call('failed'), 'failed')
  t.equal(call('succeeded'), undefined)

  const mixed = world()
  for (const end of ['succeeded', 'succeeded', 'failed', 'succeeded', 'failed'] as const) t.equal(mixed.call(end), end, 'less than half')
  t.equal(mixed.call('failed'), 'failed', 'half')
  t.equal(mixed.call('succeeded'), undefined)
})

t.test('failures of more than 10 minutes ago do not count', async (t) => {
  const { call, pass } = world()
  call('failed')
  call('failed')
  pass(600_000)
  t.equal(call('failed'), 'failed')
  t.equal(call('failed'), 'failed')
  pass(599_999)
  t.equal(call('failed'), 'failed')
  t.equal(call('failed'), undefined)
})

t.test('a call that was given up counts neither way', async (t) => {
  const { call } = world()
  for (let i = 0; i < 10; i++) t.equal(call('abandoned'), 'abandoned')
  call('failed')
  call('failed')
  t.equal(call('abandoned'), 'abandoned')
  call('failed')
  t.equal(call('succeeded'), undefined)
})

t.test('after 60 seconds one call at a time tries whether it is better', async (t) => {
  const { call, breaker, pass } = world('broken')
  pass(59_999)
  t.equal(breaker.begin(), undefined)
  pass(1)
  const trial = breaker.begin()
  t.ok(trial)
  t.equal(breaker.begin(), undefined, 'one is enough')
  trial?.failed()
  t.equal(breaker.begin(), undefined)
  pass(60_000)
  t.equal(call('succeeded'), 'succeeded')
  t.strictSame([call('failed'), call('failed'), call('failed'), call('failed')], ['failed', 'failed', 'failed', undefined], 'and all begins anew')
})

t.test('a trial that was given up leaves the next call to be one', async (t) => {
  const { breaker, pass } = world('broken')
  pass(60_000)
  breaker.begin()?.abandoned()
  t.ok(breaker.begin())
})

t.test('what began before it broke says nothing about how it is since', async (t) => {
  const { breaker, call, pass } = world()
  const slow = [breaker.begin(), breaker.begin()]
  for (let i = 0; i < 3; i++) call('failed')
  slow[0]?.succeeded()
  t.equal(breaker.begin(), undefined)
  pass(30_000)
  slow[1]?.failed()
  pass(30_000)
  t.ok(breaker.begin(), 'it does not wait longer for a late failure')
})

function world (as: 'whole' | 'broken' = 'whole') {
  let time = 0
  const breaker = createCircuitBreaker({ now: () => time })
  const call = (end: 'succeeded' | 'failed' | 'abandoned') => {
    const begun = breaker.begin()
    begun?.[end]()
    return begun === undefined ? undefined : end
  }
  if (as === 'broken') for (let i = 0; i < 3; i++) call('failed')
  return { breaker, call, pass: (ms: number) => { time += ms } }
}
