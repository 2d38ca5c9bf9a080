import type { RunEventBody } from '../events/run-event.ts'

/** Events that arise beside what is being read, and must reach its reader without waiting for it. */
export interface Asides {
  /** False when `capacity` events wait untaken; the event is dropped. */
  readonly push: (event: RunEventBody, capacity?: number) => boolean
  readonly take: () => RunEventBody[]
  /** Makes `arrived` resolve. */
  readonly wake: () => void
  /** Resolves when something was pushed, or woken for, since it last did. One reader. */
  readonly arrived: () => Promise<void>
}

export function createAsides (): Asides {
  let events: RunEventBody[] = []
  let isAwake = false
  let resolve = () => {}

  return {
    push (event, capacity = Infinity) {
      if (events.length >= capacity) return false
      events.push(event)
      wake()
      return true
    },
    take () {
      const taken = events
      events = []
      return taken
    },
    wake,
    arrived: async () => {
      if (!isAwake) await new Promise<void>((_resolve) => { resolve = _resolve })
      isAwake = false
    }
  }

  function wake (): void {
    isAwake = true
    resolve()
  }
}
