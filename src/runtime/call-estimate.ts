import { noUsage } from '../events/usage.ts'
import type { ModelRequest } from '../models/model.ts'
import { costOf, type Prices } from '../models/prices.ts'
import type { InputGauge } from './input-gauge.ts'
import type { CallEstimate } from './ledger.ts'

/** What the model's answer to the request takes at least: its input. */
export function leastOf (model: { readonly prices?: Prices | undefined }, request: ModelRequest, gauge: InputGauge): CallEstimate {
  const tokens = gauge.measure(request)
  return { tokens, costUsd: costOf(model, { ...noUsage, input: tokens }) }
}

/** Room for a call and for one more of its kind, so that a run that goes on can still be ended by an answer. */
export function withAnswer ({ tokens, costUsd }: CallEstimate): CallEstimate {
  return { tokens: 2 * tokens, costUsd: costUsd === undefined ? undefined : 2 * costUsd }
}
