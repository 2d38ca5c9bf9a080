import { addUsage, noUsage, type Usage } from '../../events/usage.ts'
import type { RunEvent } from '../../events/run-event.ts'

export interface TokenUsage {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  readonly reasoningTokens: number
  readonly cachedInputTokens: number
}

export interface UsageCollector {
  observe: (event: RunEvent) => void
  /** One entry for each model that was asked; of a stored answer only the whole is known. */
  entries: () => readonly TokenUsage[]
}

export function createUsageCollector (): UsageCollector {
  const calls = new Map<string, Usage>()
  let whole: Usage | undefined
  let model = ''

  return {
    observe (event) {
      if (event.type === 'message-start') model = event.model
      if (event.type === 'usage') calls.set(event.model, addUsage(calls.get(event.model) ?? noUsage, event.buckets))
      if (event.type === 'message-end') whole = event.usage
    },
    entries () {
      const known = calls.size > 0 || whole === undefined ? [...calls] : [[model, whole] as const]
      return known.map(([name, usage]) => entryOf(name, usage)).filter(isCounted)
    }
  }
}

function entryOf (model: string, { input, output, reasoning, cachedRead }: Usage): TokenUsage {
  return { model, inputTokens: input, outputTokens: output, totalTokens: input + output, reasoningTokens: reasoning, cachedInputTokens: cachedRead }
}

/** Clients break off over a count that is none, which a provider may send. */
function isCounted ({ model, ...counts }: TokenUsage): boolean {
  return Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)
}
