import { z } from 'zod'
import { pricesSchema } from './prices.ts'

/** What a configuration tells of a model, since no provider does. */
export const modelFactsSchema = z.strictObject({
  /** Tokens of a request and its answer together. */
  contextWindow: z.number().int().positive().optional(),
  prices: pricesSchema.optional()
})

export type ModelFacts = z.output<typeof modelFactsSchema>
