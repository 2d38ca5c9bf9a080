import type { RunEvent } from '../../events/run-event.ts'

type Delta = Extract<RunEvent, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>

/** Neighbouring deltas of one block, folded: the text, and where in it each of them ended. */
interface FoldedDeltas { readonly last: Delta, readonly firstSeq: number, readonly text: string, readonly ends: Uint32Array }

type Entry = RunEvent | FoldedDeltas

export interface EventHistory {
  nextSeq: () => number
  push: (event: RunEvent) => void
  /** Some of the events from `seq` on, within `limit`, at least one; empty when there are none yet. */
  read: (seq: number, limit: ReadLimit) => readonly RunEvent[]
}

export interface ReadLimit {
  readonly maxEvents: number
  /** Characters of deltas, so that a reader far behind is not given all of them at once. */
  readonly maxCharacters: number
}

export interface FoldLimits {
  /** Events kept as they came before the older ones are folded. */
  readonly foldAt: number
  /** Characters of one folded piece, so that no reader gets a giant frame. */
  readonly maxPiece: number
}

/**
 * The events of one run in order, of bounded size per character of output: once there are many, older neighbouring
 * deltas are folded into pieces that can still be read from any position.
 */
export function createEventHistory ({ foldAt, maxPiece }: FoldLimits): EventHistory {
  const folded: Entry[] = []
  let recent: RunEvent[] = []
  let recentFrom = 0

  return {
    nextSeq: () => recentFrom + recent.length,
    push (event) {
      recent.push(event)
      if (recent.length >= foldAt) foldOlder()
    },
    read (seq, limit) {
      if (seq >= recentFrom) return take(recent, seq - recentFrom, limit)
      return take(folded, findEntry(folded, seq), limit).map((entry) => isFolded(entry) ? unfold(entry, seq) : entry)
    }
  }

  function foldOlder (): void {
    const keep = foldAt >> 3
    const older = recent.slice(0, recent.length - keep)
    folded.push(...fold(older, maxPiece))
    recent = recent.slice(recent.length - keep)
    recentFrom += older.length
  }
}

function take<E extends Entry> (entries: readonly E[], from: number, { maxEvents, maxCharacters }: ReadLimit): E[] {
  const end = Math.min(entries.length, from + maxEvents)
  let to = from
  let characters = 0
  while (to < end && characters < maxCharacters) characters += sizeOf(entries[to++]!) // to < entries.length
  return entries.slice(from, to)
}

function sizeOf (entry: Entry): number {
  if (isFolded(entry)) return entry.text.length
  return isDelta(entry) ? entry.delta.length : 0
}

function fold (events: readonly RunEvent[], maxPiece: number): Entry[] {
  const entries: Entry[] = []
  let run: Delta[] = []
  let length = 0
  const flush = () => {
    if (run.length > 0) entries.push(run.length === 1 ? run[0]! : foldRun(run)) // not empty
    run = []
    length = 0
  }
  for (const event of events) {
    if (!isDelta(event)) {
      flush()
      entries.push(event)
      continue
    }
    if (run.length > 0 && (length >= maxPiece || !sameBlock(run[0]!, event))) flush() // not empty
    run.push(event)
    length += event.delta.length
  }
  flush()
  return entries
}

function foldRun (run: readonly Delta[]): FoldedDeltas {
  const ends = new Uint32Array(run.length)
  let end = 0
  run.forEach((event, index) => { ends[index] = end += event.delta.length })
  const last = run[run.length - 1]! // a run has at least two
  return { firstSeq: run[0]!.seq, last, text: run.map((event) => event.delta).join(''), ends }
}

function unfold ({ last, firstSeq, text, ends }: FoldedDeltas, seq: number): RunEvent {
  const skipped = seq - firstSeq
  return { ...last, delta: skipped <= 0 ? text : text.slice(ends[skipped - 1]) }
}

/** The first entry that holds `seq` or something after it. */
function findEntry (entries: readonly Entry[], seq: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle]! // low <= middle < high
    if ((isFolded(entry) ? entry.last.seq : entry.seq) < seq) low = middle + 1
    else high = middle
  }
  return low
}

function isFolded (entry: Entry): entry is FoldedDeltas {
  return 'ends' in entry
}

function isDelta (event: RunEvent): event is Delta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta'
}

function sameBlock (a: Delta, b: Delta): boolean {
  return a.type === b.type && a.agentPath === b.agentPath && blockOf(a) === blockOf(b)
}

function blockOf (event: Delta): string {
  return event.type === 'tool-input-delta' ? event.callId : event.blockId
}
