import { merge } from '../../streams/merge.ts'
import { follow } from './outputs.ts'
import type { ShownOutput, Step } from './step.ts'

/**
 * Steps that run side by side, each from the same state. Their states are merged in the order of the steps. What they say
 * does not mix: the text and files of the first come as it works, those of each other one behind it; progress comes at
 * once. One that fails ends all.
 */
export function concurrent<S> (steps: readonly Step<S>[], mergeStates: (states: readonly S[], before: S) => S): Step<S> {
  return async function * (state, context) {
    const states = steps.map(() => state)
    const branches = steps.map(async function * (step, index): AsyncGenerator<ShownOutput | undefined, void> {
      states[index] = yield * follow(step, state, context)
      yield undefined // done
    })
    const queue = createQueue(steps.length)
    for await (const { source, item } of merge(branches, context.signal)) {
      if (typeof item === 'object' && item.type === 'progress') yield item
      else yield * queue.take(source, item)
    }
    yield { type: 'state', state: mergeStates(states, state) }
  }
}

/** Lets through what the first branch says that is not done, and keeps the rest until it is its turn. */
function createQueue (branches: number) {
  const kept = Array.from({ length: branches }, (): ShownOutput[] => [])
  const done = new Set<number>()
  let turn = 0

  return {
    * take (branch: number, output: ShownOutput | undefined): Generator<ShownOutput> {
      if (output === undefined) done.add(branch)
      else kept[branch]?.push(output)
      for (;;) {
        yield * kept[turn]?.splice(0) ?? []
        if (!done.has(turn)) return
        turn++
      }
    }
  }
}
