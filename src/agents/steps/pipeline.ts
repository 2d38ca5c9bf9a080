import type { Step, StepContext } from './step.ts'

/**
 * The steps of an agent and what the first of them gets, whatever the type of their state: it is made by the first and
 * read by the others only.
 */
export interface Pipeline {
  readonly kind: 'pipeline'
  readonly initial: (context: StepContext) => unknown
  readonly steps: readonly Step<unknown>[]
}

/** `initial`: the state of the first step, or a function that makes it for each run. */
export function createPipeline<S extends object> (initial: S | ((context: StepContext) => S | Promise<S>), steps: readonly Step<S>[]): Pipeline {
  return Object.freeze({
    kind: 'pipeline',
    initial: typeof initial === 'function' ? initial : () => initial,
    // Each gets what the one before it yielded, which is an S.
    steps: Object.freeze([...steps]) as readonly Step<unknown>[]
  })
}

export function isPipeline (value: unknown): value is Pipeline {
  if (typeof value !== 'object' || value === null) return false
  const { kind, initial, steps } = value as Partial<Pipeline>
  return kind === 'pipeline' && typeof initial === 'function' && Array.isArray(steps) && steps.length > 0 && steps.every((step) => typeof step === 'function')
}
