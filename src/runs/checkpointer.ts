import { storageUnavailable } from '../errors.ts'
import type { RunLogger } from '../runtime/log.ts'
import type { Checkpoint, TurnStore } from './turn-store.ts'

export interface CheckpointSource {
  readonly runId: string
  snapshot: () => Checkpoint
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

/** Saves the parts of all running messages together, one transaction a tick, and no tick while nothing changes. */
export function createCheckpointer ({ turns, holder, log, everyMs = 200, patienceMs = 5_000 }: CheckpointerOptions): Checkpointer {
  const dirty = new Map<string, CheckpointSource>()
  let timer: NodeJS.Timeout | undefined
  let saving: Promise<void> | undefined
  let failingSince: number | undefined

  return {
    touch (source) {
      dirty.set(source.runId, source)
      schedule()
    },
    forget: (runId) => { dirty.delete(runId) },
    async close () {
      clearTimeout(timer)
      dirty.clear()
      await saving
    }
  }

  function schedule (): void {
    if (timer !== undefined || saving !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      saving = save().finally(() => {
        saving = undefined
        if (dirty.size > 0) schedule()
      })
    }, everyMs)
  }

  async function save (): Promise<void> {
    const sources = [...dirty.values()]
    if (sources.length === 0) return
    dirty.clear()
    try {
      const lost = new Set(await turns.checkpoint(holder, sources.map((source) => source.snapshot())))
      failingSince = undefined
      for (const source of sources) if (lost.has(source.runId)) source.onLost()
    } catch (error) {
      await giveUpOrRetry(sources, error)
    }
  }

  async function giveUpOrRetry (sources: readonly CheckpointSource[], error: unknown): Promise<void> {
    failingSince ??= Date.now()
    log.warn({ err: error, runs: sources.length }, 'saving running messages failed')
    if (Date.now() - failingSince < patienceMs) {
      for (const source of sources) if (!dirty.has(source.runId)) dirty.set(source.runId, source)
      return
    }
    failingSince = undefined
    for (const source of sources) source.onFailure(storageUnavailable(error))
  }
}
