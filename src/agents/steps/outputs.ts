import { AppError } from '../../errors.ts'
import { abortable } from '../../streams/abortable.ts'
import { issueReasons } from '../faults.ts'
import { frozen } from '../frozen.ts'
import { shownSchema, type ShownOutput, type StateOutput, type Step, type StepContext, type StepOutput } from './step.ts'

/**
 * What a step says of what may leave it: text that is not empty, files, progress, and frozen states; reasoning, events of
 * tools and the like go. Ends at once when the run's signal aborts, and closes the step in every case. Throws
 * configuration_error for what no step may yield.
 */
export async function * outputsOf<S> (step: Step<S>, state: S, context: StepContext): AsyncGenerator<StepOutput<S>, void> {
  for await (const output of abortable(step(state, context), context.signal)) {
    if (isState(output)) yield { type: 'state', state: frozen(output.state) }
    else yield * shown(output)
  }
}

/** What a step shows, and its last state at the end. */
export async function * follow<S> (step: Step<S>, state: S, context: StepContext): AsyncGenerator<ShownOutput, S> {
  let last = state
  for await (const output of outputsOf(step, state, context)) {
    if (isState(output)) last = output.state
    else yield output
  }
  return last
}

/** One step after the other, each with the state of the one before. */
export async function * followAll<S> (steps: readonly Step<S>[], state: S, context: StepContext): AsyncGenerator<ShownOutput, S> {
  let last = state
  for (const step of steps) last = yield * follow(step, last, context)
  return last
}

export function isState<S> (output: StepOutput<S>): output is StateOutput<S> {
  return typeOf(output) === 'state'
}

/** Of what code without types yields, nothing is known. */
function * shown (output: unknown): Generator<ShownOutput> {
  if (typeof output === 'string') {
    if (output !== '') yield output
    return
  }
  const type = typeOf(output)
  if (typeof type !== 'string') throw notShown('neither text nor an object with a type')
  if (type === 'file' || type === 'progress') yield parsed(output)
}

function parsed (output: unknown): ShownOutput {
  const { data, error } = shownSchema.safeParse(output)
  if (data === undefined) throw notShown(`not what it says: ${issueReasons(error?.issues ?? [], []).join('; ')}`)
  return data
}

function notShown (what: string): AppError {
  return new AppError('configuration_error', `A step yielded something that is ${what}.`)
}

function typeOf (output: unknown): unknown {
  return typeof output === 'object' && output !== null && 'type' in output ? output.type : undefined
}
