import { z } from 'zod'

/** What a run of an agent may spend, with everything below it. A member's own binds the member, the root's everybody. */
export const budgetSchema = z.strictObject({
  /** Input and output of all model calls. */
  tokens: z.number().int().positive().optional(),
  /** US dollars, by the calls whose price is known. */
  costUsd: z.number().positive().optional()
})

export type Budget = z.output<typeof budgetSchema>
