import { storageUnavailable } from '../errors.ts'
import type { RunLogger } from '../runtime/log.ts'
import type { Checkpoint, TurnStore } from './turn-store.ts'

export interface CheckpointSource {
  readonly runId: string
  snapshot: () => Checkpoint
  /** How long the message is by now, roughly: what saving it costs. */
  characters: () => number
  /** The run's row is gone or somebody else's. */
  onLost: () => void
  /** The store has failed for longer than is bearable. */
  onFailure: (error: Error) => void
}

export interface Checkpointer {
  /** Says that a run has something new; it is saved within `everyMs`. */
  touch: (source: CheckpointSource) => void
  /** The run ended: its last word is written elsewhere. */
  forget: (runId: string) => void
  close: () => Promise<void>
}

export interface CheckpointerOptions {
  readonly turns: TurnStore
  readonly holder: string
  readonly log: RunLogger
  /** Text younger than this may be lost in a crash. */
  readonly everyMs?: number
  /** How long the store may fail before the runs that wait for it are failed. */
  readonly patienceMs?: number
}

// A message is written whole each time. Beyond 200,000 characters it is written less often, so that the cost of an answer
// without end does not grow with its square.
const charactersPerMs = 1_000

/** Saves the parts of all running messages together, one transaction a tick, and no tick while nothing changes. */
export function createCheckpointer ({ turns, holder, log, everyMs = 200, patienceMs = 5_000 }: CheckpointerOptions): Checkpointer {
  const dirty = new Map<string, CheckpointSource>()
  const notBefore = new Map<string, number>()
  let inFlight = new Map<string, CheckpointSource>()
  let timer: NodeJS.Timeout | undefined
  let saving: Promise<void> | undefined
  let failingSince: number | undefined
  let closed = false

  return {
    touch (source) {
      dirty.set(source.runId, source)
      schedule()
    },
    forget: (runId) => {
      dirty.delete(runId)
      inFlight.delete(runId)
      notBefore.delete(runId)
      if (dirty.size === 0 && inFlight.size === 0) failingSince = undefined // nobody waits: the next failure is a first one
    },
    async close () {
      closed = true
      clearTimeout(timer)
      dirty.clear()
      inFlight.clear()
      await saving
    }
  }

  function schedule (): void {
    if (closed || timer !== undefined || saving !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      saving = save().finally(() => {
        saving = undefined
        if (dirty.size > 0) schedule()
      })
    }, everyMs)
  }

  async function save (): Promise<void> {
    inFlight = takeDue()
    if (inFlight.size === 0) return
    try {
      const lost = await turns.checkpoint(holder, Array.from(inFlight.values(), (source) => source.snapshot()))
      failingSince = undefined
      for (const runId of lost) inFlight.get(runId)?.onLost()
    } catch (error) {
      giveUpOrRetry(error)
    } finally {
      inFlight.clear()
    }
  }

  function takeDue (): Map<string, CheckpointSource> {
    const now = performance.now()
    const due = new Map<string, CheckpointSource>()
    for (const [runId, source] of dirty) {
      if (now < (notBefore.get(runId) ?? 0)) continue
      due.set(runId, source)
      dirty.delete(runId)
      notBefore.set(runId, now + source.characters() / charactersPerMs)
    }
    return due
  }

  /** Of the runs that have not ended meanwhile. */
  function giveUpOrRetry (error: unknown): void {
    log.warn({ err: error, runs: inFlight.size }, 'saving running messages failed')
    const waiting = [...inFlight.values()]
    if (waiting.length === 0) return
    failingSince ??= Date.now()
    if (Date.now() - failingSince < patienceMs) {
      for (const source of waiting) if (!dirty.has(source.runId)) dirty.set(source.runId, source)
      return
    }
    failingSince = undefined
    for (const source of waiting) source.onFailure(storageUnavailable(error))
  }
}
