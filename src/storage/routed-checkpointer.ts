import type { Checkpointer } from '../runs/checkpointer.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import type { RoutedTurns } from './routed-turns.ts'

/** One for each storage: where one of them does not answer, the runs of the others are saved all the same. */
export function routeCheckpoints (turns: RoutedTurns, make: (turns: TurnStore) => Checkpointer): Checkpointer {
  const made = new Map<TurnStore, Checkpointer>()

  return {
    touch: (source) => { of(turns.turnsOf(source.runId)).touch(source) },
    forget: (runId) => { for (const checkpointer of made.values()) checkpointer.forget(runId) },
    close: async () => { await Promise.all(Array.from(made.values(), (checkpointer) => checkpointer.close())) }
  }

  function of (store: TurnStore): Checkpointer {
    const known = made.get(store)
    if (known !== undefined) return known
    const checkpointer = make(store)
    made.set(store, checkpointer)
    return checkpointer
  }
}
