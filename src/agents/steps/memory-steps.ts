import { AppError } from '../../errors.ts'
import type { ModelMessage } from '../../models/model.ts'
import type { Step, StepContext, StepMemory } from './step.ts'

/** A step that puts what the agent remembers into the state. A pipeline has one at most: configuration_error the second time. */
export function recall<S> (into: (state: S, messages: readonly ModelMessage[]) => S): Step<S> {
  return async function * (state, context) {
    yield { type: 'state', state: into(state, await memoryOf(context).recall()) }
  }
}

/** A step that says what the next run recalls, if this one completes. */
export function remember<S> (messages: (state: S, context: StepContext) => readonly ModelMessage[]): Step<S> {
  // It shows nothing and leaves the state as it is.
  return async function * (state, context) {
    memoryOf(context).remember(messages(state, context))
  }
}

function memoryOf ({ memory }: StepContext): StepMemory {
  if (memory === undefined) throw new AppError('configuration_error', 'A memory step works inside of an agent only.')
  return memory
}
