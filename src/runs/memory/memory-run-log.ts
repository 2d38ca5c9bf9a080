import { isTerminal, type RunEvent, type RunEventBody } from '../../events/run-event.ts'
import type { RunLog } from '../run-log.ts'
import { createEventHistory, type EventHistory, type FoldLimits } from './event-history.ts'

export interface MemoryRunLogOptions extends Partial<FoldLimits> {
  /** How long a finished log stays readable. */
  readonly graceMs: number
  readonly now?: () => Date
}

interface Entry {
  readonly history: EventHistory
  readonly readers: Set<() => void>
  ended: boolean
}

// What a slow reader is handed at a time: never all that it missed.
const batchLimit = { maxEvents: 512, maxCharacters: 65_536 }

/** The log of a single process: what it holds is gone with it. */
export function createMemoryRunLog ({ graceMs, foldAt = 256, maxPiece = 16_384, now = () => new Date() }: MemoryRunLogOptions): RunLog {
  const entries = new Map<string, Entry>()
  const timers = new Set<NodeJS.Timeout>()

  return {
    async append (runId, events) {
      const entry = entryOf(runId)
      const at = now().toISOString()
      for (const body of events) {
        entry.history.push(stamped(body, entry.history.nextSeq(), at))
        if (isTerminal(body)) retire(runId, entry)
      }
      wake(entry)
    },
    follow: (runId, options) => follow(entries.get(runId), options),
    has: async (runId) => entries.has(runId),
    async close () {
      for (const timer of timers) clearTimeout(timer)
      for (const entry of entries.values()) {
        entry.ended = true
        wake(entry)
      }
      entries.clear()
    }
  }

  function entryOf (runId: string): Entry {
    let entry = entries.get(runId)
    if (entry === undefined) {
      entry = { history: createEventHistory({ foldAt, maxPiece }), readers: new Set(), ended: false }
      entries.set(runId, entry)
    }
    return entry
  }

  function retire (runId: string, entry: Entry): void {
    entry.ended = true
    wake(entry)
    const timer = setTimeout(() => {
      timers.delete(timer)
      entries.delete(runId)
    }, graceMs)
    timer.unref()
    timers.add(timer)
  }
}

async function * follow (entry: Entry | undefined, { after, signal }: { after: number, signal: AbortSignal }): AsyncGenerator<readonly RunEvent[], void> {
  if (entry === undefined) return
  let cursor = after + 1
  let goOn = () => {}
  const wakeUp = () => { goOn() }
  entry.readers.add(wakeUp)
  signal.addEventListener('abort', wakeUp)
  try {
    while (!signal.aborted) {
      const batch = entry.history.read(cursor, batchLimit)
      const last = batch.at(-1)
      if (last !== undefined) {
        cursor = last.seq + 1
        yield batch
        if (isTerminal(last)) return
      } else if (entry.ended) {
        return
      } else {
        await new Promise<void>((resolve) => { goOn = resolve }) // set before anything else can run
      }
    }
  } finally {
    entry.readers.delete(wakeUp)
    signal.removeEventListener('abort', wakeUp)
  }
}

/** Nearly all events are of the first kind, and copying one without naming its fields takes several times as long. */
function stamped (body: RunEventBody, seq: number, at: string): RunEvent {
  if (body.type === 'text-delta' && body.agentPath === undefined) return { type: body.type, blockId: body.blockId, delta: body.delta, seq, at }
  return { ...body, seq, at }
}

function wake ({ readers }: Entry): void {
  for (const wakeUp of readers) wakeUp()
}
