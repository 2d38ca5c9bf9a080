export interface Turnstile {
  /** Resolves when everybody who asked before has left. */
  enter: () => Promise<void>
  leave: () => void
}

/** Lets one through at a time, in the order they came. */
export function createTurnstile (): Turnstile {
  const waiting: (() => void)[] = []
  let taken = false

  return {
    async enter () {
      if (taken) await new Promise<void>((resolve) => { waiting.push(resolve) })
      taken = true
    },
    leave () {
      const next = waiting.shift()
      if (next === undefined) taken = false
      else next() // stays taken: nobody may slip in before the next one wakes
    }
  }
}
