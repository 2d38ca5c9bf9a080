import { z } from 'zod'

const share = z.number().positive().max(1)

const policySchema = z.strictObject({
  /** Share of the model's context window from which on the conversation is shortened. */
  at: share.default(0.92),
  /** Share of the window that it is shortened to, so that this is not needed again at once. */
  to: share.default(0.7),
  /** Newest model calls that stay as they are. */
  keepSteps: z.number().int().nonnegative().default(4),
  /** Whether a model is asked to sum up what is left out. */
  summarise: z.boolean().default(true)
}).refine(({ at, to }) => to < at, { path: ['to'], error: 'expected less than "at"' })

export type CompactionPolicy = z.output<typeof policySchema>

/** How a conversation is kept within the model's context window. */
export const compactionSchema = z.union([z.literal('off'), z.literal('auto'), policySchema], "expected 'off', 'auto' or a policy")
  .default('off')
  .transform((given): CompactionPolicy | undefined => given === 'off' ? undefined : given === 'auto' ? policySchema.parse({}) : given)
