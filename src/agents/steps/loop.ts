import { followAll } from './outputs.ts'
import type { Step } from './step.ts'

const mostRounds = 10_000

export interface LoopOptions<S> {
  /** Asked before every round; `round` counts from 0. */
  readonly while: (state: S, round: number) => boolean | Promise<boolean>
  /** Rounds in all, 1 to 10,000. After them the pipeline goes on with the state as it is. */
  readonly atMost: number
}

/** Steps that are taken again while a condition holds. */
export function loop<S> ({ while: goesOn, atMost }: LoopOptions<S>, ...steps: readonly Step<S>[]): Step<S> {
  if (!Number.isSafeInteger(atMost) || atMost < 1 || atMost > mostRounds) throw new TypeError(`loop: atMost must be a whole number from 1 to ${mostRounds}`)
  return async function * (state, context) {
    let last = state
    for (let round = 0; round < atMost && await goesOn(last, round); round++) last = yield * followAll(steps, last, context)
    yield { type: 'state', state: last }
  }
}
