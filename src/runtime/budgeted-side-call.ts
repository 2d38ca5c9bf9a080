import type { RunEventBody } from '../events/run-event.ts'
import type { Model, ModelRequest } from '../models/model.ts'
import { leastOf } from './call-estimate.ts'
import { createInputGauge } from './input-gauge.ts'
import type { RunObserver } from './run-observer.ts'
import type { RunState } from './run-state.ts'
import { sideCall, type SideCall, type SideCallOptions } from './side-call.ts'
import type { StepHooks } from './step-hooks.ts'

export interface BudgetedSideCallOptions extends Omit<SideCallOptions, 'watch'>, Pick<StepHooks, 'onUsage'> {
  readonly state: Pick<RunState, 'ledger'>
  readonly runId: string
  readonly observer?: RunObserver | undefined
  /** Takes what the call used. */
  readonly out: RunEventBody[]
}

/** A call beside the conversation that the run pays for; undefined where its budget has no room for it. Does not throw. */
export async function budgetedSideCall (model: Model, request: ModelRequest, options: BudgetedSideCallOptions): Promise<Omit<SideCall, 'usage'> | undefined> {
  const { state: { ledger }, runId, observer, onUsage, out, ...call } = options
  const reservation = ledger.reserve(leastOf(model, request, createInputGauge()))
  if (reservation === undefined) return undefined
  const { usage, ...rest } = await sideCall(model, request, { ...call, watch: observer?.modelCall({ runId, model: model.id, request }) })
  if (usage !== undefined) {
    const { buckets, costUsd, estimated = false } = usage
    out.push(usage)
    ledger.book(buckets, costUsd)
    onUsage?.({ model: model.id, usage: buckets, ...(costUsd === undefined ? {} : { costUsd }), estimated })
  }
  reservation.release()
  return rest
}
