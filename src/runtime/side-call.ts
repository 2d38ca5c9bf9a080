import type { FinishReason, RunEventOf } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import { callModel } from '../models/call-model.ts'
import { estimateUsage } from '../models/estimate.ts'
import type { CallTimeouts } from '../models/guarded-call.ts'
import type { Model, ModelRequest } from '../models/model.ts'
import { costOf } from '../models/prices.ts'
import type { ModelCallWatch } from './run-observer.ts'

export interface SideCallOptions {
  readonly signal: AbortSignal
  readonly timeouts: CallTimeouts
  /** What is longer is not waited for. */
  readonly maxCharacters: number
  readonly watch?: ModelCallWatch | undefined
}

export interface SideCall {
  readonly text: string
  /** Absent where the model failed before it said anything; one that was stopped has read the request. */
  readonly usage: RunEventOf<'usage'> | undefined
  /** Why there is no whole text. */
  readonly failure: { readonly error: unknown } | undefined
}

/** One model call beside the conversation: its text, and what it took, also where it broke off. Does not throw. */
export async function sideCall (model: Model, request: ModelRequest, { signal, timeouts, maxCharacters, watch }: SideCallOptions): Promise<SideCall> {
  const asked = !signal.aborted
  let text = ''
  let usage: SideCall['usage']
  let failure: SideCall['failure']
  let finishReason: FinishReason = 'other'
  let silent = true
  try {
    for await (const events of callModel(model, request, { signal, timeouts })) {
      if (silent) watch?.firstOutput()
      silent = false
      for (const event of events) {
        if (event.type === 'finish') finishReason = event.reason
        if (event.type === 'text-delta') text += event.delta
        if (event.type === 'usage') usage = usageEvent(model, event.usage, event.estimated)
      }
      if (text.length > maxCharacters) break
    }
  } catch (error) {
    failure = { error }
  }
  const tookSome = failure === undefined || text !== '' || (asked && signal.aborted)
  if (usage === undefined && tookSome) usage = usageEvent(model, estimateUsage(request, text.length), true)
  const costUsd = usage?.costUsd
  if (failure !== undefined) watch?.end({ ok: false, error: failure.error, usage: usage?.buckets, costUsd })
  else if (usage !== undefined) watch?.end({ ok: true, usage: usage.buckets, costUsd, finishReason, text, calls: [] })
  return { text, usage, failure }
}

function usageEvent (model: Model, buckets: Usage, estimated: boolean): RunEventOf<'usage'> {
  const costUsd = costOf(model, buckets)
  return { type: 'usage', model: model.id, buckets, ...(costUsd === undefined ? {} : { costUsd }), ...(estimated ? { estimated } : {}) }
}
