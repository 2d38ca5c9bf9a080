import type { RunEventBody } from '../events/run-event.ts'
import type { Model, ModelRequest } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { leastOf } from './call-estimate.ts'
import type { Compactor } from './compactor.ts'
import type { Reservation } from './ledger.ts'
import type { RunState } from './run-state.ts'

export interface PreparedCall {
  readonly request: ModelRequest
  /** To be released when the call is over. */
  readonly reservation: Reservation
}

/**
 * What stands before every model call: the state's messages are made to fit, and the budgets are asked. Undefined where they
 * have no room for the call. Yields the usage of what it took.
 */
export async function * prepareCall (request: ModelRequest, { model, state, compactor }: { readonly model: Model, readonly state: RunState, readonly compactor: Compactor | undefined }): AsyncGenerator<Batch<RunEventBody>, PreparedCall | undefined> {
  const aside: RunEventBody[] = []
  let fitted = request
  try {
    fitted = await compactor?.fit(request, aside) ?? request
  } catch (error) {
    if (aside.length > 0) yield aside
    throw error
  }
  if (aside.length > 0) yield aside
  const reservation = state.ledger.reserve(leastOf(model, fitted, state.gauge))
  return reservation === undefined ? undefined : { request: fitted, reservation }
}
