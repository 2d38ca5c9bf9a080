import t from 'tap'
import { noUsage, type Usage } from '../../../src/events/usage.ts'
import { costOf, pricesSchema, type Prices } from '../../../src/models/prices.ts'

const prices: Prices = { input: 2, cachedRead: 0.5, cacheWrite: 2.5, output: 8 }

const cases: ReadonlyArray<{ name: string, usage: Partial<Usage>, prices?: Prices, costUsd: number }> = [
  { name: 'input and output have their own price', usage: { input: 1_000, output: 500 }, costUsd: 0.006 },
  { name: 'what was read from a cache is part of the input and cheaper', usage: { input: 1_000, cachedRead: 800 }, costUsd: 0.0008 },
  { name: 'what was written to a cache is part of the input and dearer', usage: { input: 1_000, cacheWrite: 400 }, costUsd: 0.0022 },
  { name: 'all of it together', usage: { input: 1_000, cachedRead: 500, cacheWrite: 300, output: 100 }, costUsd: 0.0022 },
  { name: 'reasoning is part of the output', usage: { output: 100, reasoning: 90 }, costUsd: 0.0008 },
  { name: 'a cache without a price of its own costs what input does', usage: { input: 1_000, cachedRead: 500, cacheWrite: 300 }, prices: { input: 2, output: 8 }, costUsd: 0.002 },
  { name: 'more from a cache than there is input is not counted twice', usage: { input: 100, cachedRead: 900, cacheWrite: 900 }, costUsd: 0.00005 },
  { name: 'nothing costs nothing', usage: {}, costUsd: 0 },
  { name: 'a free model costs nothing, which is known', usage: { input: 1_000, output: 1_000 }, prices: { input: 0, output: 0 }, costUsd: 0 },
  { name: 'one token of the cheapest model is not lost', usage: { input: 1 }, prices: { input: 0.01, output: 0.01 }, costUsd: 1e-8 },
  { name: 'the amount is the decimal it is', usage: { input: 3, output: 7 }, prices: { input: 0.1, output: 0.7 }, costUsd: 0.0000052 }
]

for (const { name, usage, costUsd, prices: own = prices } of cases) {
  t.test(`cost: ${name}`, async (t) => { t.equal(costOf({ prices: own }, { ...noUsage, ...usage }), costUsd) })
}

t.test('what a model without prices costs is not known, and not nothing', async (t) => {
  t.equal(costOf({}, { ...noUsage, input: 1_000 }), undefined)
})

t.test('prices are complete, not negative, and no others', async (t) => {
  t.ok(pricesSchema.safeParse(prices).success)
  for (const wrong of [{ input: 1 }, { output: 1 }, { input: -1, output: 1 }, { input: '1', output: 1 }, { input: Infinity, output: 1 }, { input: 1, output: 1, reasoning: 1 }]) {
    t.notOk(pricesSchema.safeParse(wrong).success, JSON.stringify(wrong))
  }
})
