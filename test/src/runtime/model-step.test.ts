import t from 'tap'
import { AppError } from '../../../src/errors.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { step, watching } from './stepping.ts'

const prices = { input: 1, output: 10 }

t.test('what a call cost is told with its usage, summed for the run, and told to who watches', async (t) => {
  const { observer, calls } = watching()
  const { of, state } = await step({ model: { ...scriptedModel([['Hi']]), prices }, observer })
  t.match(of('usage'), [{ model: 'test:scripted', costUsd: 0.00006 }])
  t.equal(state.costUsd, 0.00006)
  t.match(calls, [{ model: 'test:scripted', ok: true, costUsd: 0.00006 }])
})

t.test('a call that breaks off costs what it said', async (t) => {
  const { observer, calls } = watching()
  const model = { ...scriptedModel([['x'.repeat(400), { throw: new AppError('provider_unavailable', 'gone') }]]), prices }
  const { of, state, error } = await step({ model, observer })
  t.match(error, { code: 'provider_unavailable' })
  t.match(of('usage'), [{ estimated: true, buckets: { input: 3, output: 100 }, costUsd: 0.001003 }])
  t.equal(state.costUsd, 0.001003)
  t.match(calls, [{ ok: false, costUsd: 0.001003 }])
})

t.test('one call without a price leaves the cost of the run unknown', async (t) => {
  const { of, state } = await step({ model: scriptedModel([['Hi']]) })
  t.notOk('costUsd' in (of('usage')[0] ?? {}))
  t.equal(state.costUsd, undefined)
  t.equal((await step({ model: { ...scriptedModel([['Hi']]), prices }, state })).state.costUsd, undefined)
})
