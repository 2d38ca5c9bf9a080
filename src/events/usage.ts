import { z } from 'zod'

/** Token counts of model calls. `input` includes what was read from a cache; `output` includes reasoning. */
export const usageSchema = z.object({
  input: z.number(),
  output: z.number(),
  reasoning: z.number(),
  cachedRead: z.number(),
  cacheWrite: z.number()
})

export type Usage = z.output<typeof usageSchema>

export const noUsage: Usage = Object.freeze({ input: 0, output: 0, reasoning: 0, cachedRead: 0, cacheWrite: 0 })

export function addUsage (a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    cachedRead: a.cachedRead + b.cachedRead,
    cacheWrite: a.cacheWrite + b.cacheWrite
  }
}
