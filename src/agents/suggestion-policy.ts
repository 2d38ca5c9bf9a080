import { z } from 'zod'
import type { ModelMessage } from '../models/model.ts'
import type { HookContext } from './hooks.ts'

/** The most that are kept. */
export const maxSuggestions = 3

const policySchema = z.strictObject({
  /** How many are wanted; no more than three are kept. */
  count: z.number().int().min(1).max(maxSuggestions).default(maxSuggestions),
  /** Whom to ask; the agent's own model when absent. */
  model: z.string().min(1).optional(),
  /** What it is told to do, in place of our own words. */
  instructions: z.string().min(1).optional(),
  timeoutMs: z.number().positive().default(5_000)
})

export type SuggestionPolicy = z.output<typeof policySchema>

/** What the user may want to ask next. Given the newest messages, the answer last. It has five seconds; what it throws is logged. */
export type SuggestHook = (messages: readonly ModelMessage[], context: HookContext) => readonly string[] | Promise<readonly string[]>

const hookSchema = z.custom<SuggestHook>((value) => typeof value === 'function')

/** Whether, and how, the user is offered questions to go on with. */
export const suggestionsSchema = z.union([z.boolean(), z.literal('off'), policySchema, hookSchema], "expected true, false, 'off', settings or a function")
  .default(false)
  .transform((given): SuggestionPolicy | SuggestHook | undefined => given === false || given === 'off' ? undefined : given === true ? policySchema.parse({}) : given)
