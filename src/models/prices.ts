import { z } from 'zod'
import { roundUsd } from '../events/cost.ts'
import type { Usage } from '../events/usage.ts'

const price = z.number().nonnegative()

/** What a model's tokens cost, in US dollars per million. Nothing is known of a model whose prices are not configured. */
export const pricesSchema = z.strictObject({
  input: price,
  /** Includes reasoning. */
  output: price,
  /** Of input that was read from a cache; as input where absent. */
  cachedRead: price.optional(),
  /** Of input that was written to a cache; as input where absent. */
  cacheWrite: price.optional()
})

export type Prices = z.output<typeof pricesSchema>

const perTokens = 1_000_000

/** In US dollars. Undefined, which is not nothing, where the model's prices are not known. */
export function costOf ({ prices }: { readonly prices?: Prices | undefined }, usage: Usage): number | undefined {
  if (prices === undefined) return undefined
  const { input, output, cachedRead = input, cacheWrite = input } = prices
  // Both are counted in the input too. A provider that tells more of them than of all input is believed in neither.
  const read = Math.min(usage.cachedRead, usage.input)
  const written = Math.min(usage.cacheWrite, usage.input - read)
  const fresh = usage.input - read - written
  return roundUsd((fresh * input + read * cachedRead + written * cacheWrite + usage.output * output) / perTokens)
}
