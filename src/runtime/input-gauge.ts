import { estimateInput } from '../models/estimate.ts'
import type { ModelRequest } from '../models/model.ts'

/** Tells about how many tokens of input a request of one run is, as its provider counts them. */
export interface InputGauge {
  readonly measure: (request: ModelRequest) => number
  /** The provider's tokens for each that we estimate, of what is added to a conversation or taken away. */
  readonly scale: () => number
  /** `tokens`: what the provider counted for the request. */
  readonly learn: (request: ModelRequest, tokens: number) => void
}

// Text of one run is alike, but not more than this: beyond it, a provider counts what we do not see.
const leastScale = 0.5
const mostScale = 2

/**
 * A conversation grows by a little with each request, so what the provider counted for the last one is nearer to the truth
 * than any estimate of the whole: only the difference is estimated.
 */
export function createInputGauge (): InputGauge {
  let last: { readonly estimated: number, readonly counted: number } | undefined

  return {
    measure (request) {
      const estimated = estimateInput(request)
      if (last === undefined) return estimated
      return Math.ceil(Math.max(last.counted + (estimated - last.estimated) * scale(), estimated * leastScale))
    },
    scale,
    learn (request, tokens) {
      const estimated = estimateInput(request)
      if (tokens > 0 && estimated > 0) last = { estimated, counted: tokens }
    }
  }

  function scale (): number {
    return last === undefined ? 1 : Math.min(Math.max(last.counted / last.estimated, leastScale), mostScale)
  }
}
