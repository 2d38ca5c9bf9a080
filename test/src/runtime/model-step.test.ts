import t from 'tap'
import { AppError, RunStopped } from '../../../src/errors.ts'
import { createLedger } from '../../../src/runtime/ledger.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { step, watching } from './stepping.ts'

const prices = { input: 1, output: 10 }

t.test('what a call cost is told with its usage, summed for the run, and told to who watches', async (t) => {
  const { observer, calls } = watching()
  const { of, state } = await step({ model: { ...scriptedModel([['Hi']]), prices }, observer })
  t.match(of('usage'), [{ model: 'test:scripted', costUsd: 0.00006 }])
  t.equal(state.ledger.spent().costUsd, 0.00006)
  t.match(calls, [{ model: 'test:scripted', ok: true, costUsd: 0.00006 }])
})

t.test('a call that breaks off costs what it said', async (t) => {
  const { observer, calls } = watching()
  const model = { ...scriptedModel([['x'.repeat(400), { throw: new AppError('provider_unavailable', 'gone') }]]), prices }
  const { of, state, error } = await step({ model, observer })
  t.match(error, { code: 'provider_unavailable' })
  t.match(of('usage'), [{ estimated: true, buckets: { input: 8, output: 100 }, costUsd: 0.001008 }])
  t.match(state.ledger.spent(), { usage: { output: 100 }, costUsd: Number })
  t.match(calls, [{ ok: false, costUsd: 0.001008 }])
})

t.test('one call without a price leaves the cost of the run unknown', async (t) => {
  const { of, state } = await step({ model: scriptedModel([['Hi']]) })
  t.notOk('costUsd' in (of('usage')[0] ?? {}))
  t.equal(state.ledger.spent().costUsd, undefined)
  t.equal((await step({ model: { ...scriptedModel([['Hi']]), prices }, state })).state.ledger.spent().costUsd, undefined)
})

t.test('a call that is stopped before it answers counts what it was asked, one that was never made does not', async (t) => {
  const controller = new AbortController()
  setTimeout(() => { controller.abort(new RunStopped('user')) }, 20)
  const model = { ...scriptedModel([[{ hang: true }]]), prices }
  const { of, state, error } = await step({ model, signal: controller.signal })
  t.match(error, { reason: 'user' })
  t.match(of('usage'), [{ estimated: true, buckets: { input: 8, output: 0 }, costUsd: 0.000008 }])
  t.equal(state.ledger.spent().usage.input, 8)
  t.strictSame((await step({ model, signal: AbortSignal.abort(new RunStopped('user')) })).of('usage'), [])
})

t.test('what was set aside for a call is given back when the call is over, however it ends', async (t) => {
  for (const script of [['Hi'], [{ throw: new AppError('content_filtered', 'no') }]]) {
    const ledger = createLedger({ tokens: 100 })
    const reservation = ledger.reserve({ tokens: 80, costUsd: undefined })
    t.notOk(ledger.allows({ tokens: 30, costUsd: undefined }))
    await step({ model: scriptedModel([script]), reservation })
    t.ok(ledger.allows({ tokens: 100, costUsd: undefined }))
  }
})

t.test('usage, cost and measurements are those of the model that was asked', async (t) => {
  const usage = { type: 'usage', usage: { input: 3, output: 0, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, estimated: false } as const
  const main = { ...scriptedModel([[usage, { throw: new AppError('configuration_error', 'key') }]], { id: 'p:main' }), prices: { input: 1_000_000, output: 0 } }
  const spare = { ...scriptedModel([['Hi']], { id: 'p:spare' }), prices }
  const { observer, calls } = watching()
  const { of, state, outcome, log } = await step({ model: main, fallbacks: [spare], observer })
  t.match(of('usage'), [{ model: 'p:main', buckets: { input: 3 }, costUsd: 3 }, { model: 'p:spare', buckets: { input: 10 }, costUsd: 0.00006 }])
  t.match(state.ledger.spent(), { usage: { input: 13 }, costUsd: 3.00006 })
  t.match(outcome, { text: 'Hi', usage: { input: 10 } })
  t.match(calls, [{ model: 'p:main', ok: false, costUsd: 3 }, { model: 'p:spare', ok: true, costUsd: 0.00006 }])
  t.match(log, [{ level: 'warn', fields: { model: 'p:main', fallback: 'p:spare' } }])
})

t.test('a model that failed unheard costs nothing, whatever becomes of the next', async (t) => {
  const main = scriptedModel([[{ throw: new AppError('configuration_error', 'key') }]], { id: 'p:main' })
  const spare = scriptedModel([['Hel', { throw: new AppError('provider_unavailable', 'gone') }]], { id: 'p:spare' })
  const { of, error } = await step({ model: main, fallbacks: [spare] })
  t.match(error, { code: 'provider_unavailable' })
  t.match(of('usage'), [{ model: 'p:spare', estimated: true }])
  t.equal(of('usage').length, 1)
})
