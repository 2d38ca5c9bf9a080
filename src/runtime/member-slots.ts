import { untilAborted } from '../streams/abort.ts'

export interface MemberSlots {
  /** Counts one delegation; false when the run has made all it may. */
  begin: () => boolean
  /** How many delegations have begun. */
  readonly begun: () => number
  /** Waits for a place to work in; rejects with the signal's reason. */
  take: (signal: AbortSignal) => Promise<MemberSlot>
}

/** One member's place. */
export interface MemberSlot {
  /** Gives the place back while the member only waits for members of its own: otherwise these might wait for it. */
  lend: () => void
  /** Waits for a place again. */
  reclaim: (signal: AbortSignal) => Promise<void>
  leave: () => void
}

export interface MemberSlotsOptions {
  /** Members that may work at a time. */
  readonly concurrency: number
  /** Delegations in the whole run. */
  readonly total: number
  readonly begun?: number | undefined
}

/** Of a run whose agent asks no others. */
export const noSlots: MemberSlots = Object.freeze({
  begin: () => false,
  begun: () => 0,
  take: () => Promise.reject(new Error('This run asks no other agents'))
})

/** Bounds what the members of one run do, at whatever depth. */
export function createMemberSlots ({ concurrency, total, begun: already = 0 }: MemberSlotsOptions): MemberSlots {
  const waiting: (() => void)[] = []
  let free = concurrency
  let begun = already

  return {
    begun: () => begun,
    begin () {
      if (begun >= total) return false
      begun++
      return true
    },
    async take (signal) {
      await enter(signal)
      let held = true
      return {
        lend: leave,
        async reclaim (again) {
          if (held) return
          await enter(again)
          held = true
        },
        leave
      }

      function leave (): void {
        if (held) release()
        held = false
      }
    }
  }

  async function enter (signal: AbortSignal): Promise<void> {
    if (free > 0) {
      free--
      return
    }
    let admit: () => void = () => {}
    const admitted = new Promise<void>((resolve) => { waiting.push(admit = resolve) })
    try {
      await untilAborted(admitted, signal)
    } catch (error) {
      const place = waiting.indexOf(admit)
      if (place === -1) release() // admitted in the same moment
      else waiting.splice(place, 1)
      throw error
    }
  }

  function release (): void {
    const next = waiting.shift()
    if (next === undefined) free++
    else next()
  }
}
