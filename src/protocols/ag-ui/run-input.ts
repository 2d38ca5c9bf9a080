import { z } from 'zod'
import { resumeEntrySchema } from './resume.ts'

/**
 * The body of a run: `RunAgentInput` as clients of AG-UI send it. Of `messages` only the newest turn is read: history is
 * the store's. `tools`, `context` and `state` are the agent's own here and are not read.
 */
export const runInputSchema = z.object({
  threadId: z.string(),
  runId: z.string().max(200),
  messages: z.array(z.looseObject({ id: z.string().optional(), role: z.string() })),
  state: z.unknown().optional(),
  tools: z.array(z.unknown()).nullish(),
  context: z.array(z.unknown()).nullish(),
  forwardedProps: z.unknown().optional(),
  /** Answers to what interrupted the run before. */
  resume: z.array(resumeEntrySchema).nullish(),
  protocolVersion: z.string().nullish()
})

export type RunInput = z.output<typeof runInputSchema>
export type ClientMessage = RunInput['messages'][number]
