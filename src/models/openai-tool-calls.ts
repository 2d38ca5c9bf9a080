import { randomUUID } from 'node:crypto'
import type { ModelEvent } from './model.ts'

export interface ToolCallReader {
  /** Takes the `tool_calls` of one delta and adds what they say to `out`. */
  read: (entries: readonly unknown[], out: ModelEvent[]) => void
  /** Ends every call. `cut` says that arguments which are no JSON were broken off and not written so by the model. */
  end: (ending: 'whole' | 'cut' | 'lost', out: ModelEvent[]) => void
  /** Whether a call was begun. */
  any: () => boolean
  /** How much was written as arguments. */
  characters: () => number
}

interface Call {
  callId: string
  readonly upstreamId: string
  readonly index: number | undefined
  name: string
  arguments: string
  started: boolean
}

interface Entry {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/**
 * Puts tool calls together from deltas. Providers differ in what says which call a delta belongs to: an index, an id, a
 * name, or nothing but the order. A call is started when its name is known; what came of its arguments before is kept.
 */
export function createToolCallReader (newCallId: () => string = () => `call_${randomUUID()}`): ToolCallReader {
  const calls: Call[] = []
  const taken = new Set<string>()
  let ended = false

  return { read, end, any: () => calls.length > 0, characters: () => calls.reduce((sum, call) => sum + call.arguments.length, 0) }

  function read (raw: readonly unknown[], out: ModelEvent[]): void {
    if (ended) return
    for (const item of raw) {
      const entry = parseEntry(item)
      if (entry === undefined) continue
      // Several calls in one delta without an index are whole calls, however alike they look.
      const apart = entry.index === undefined && raw.length > 1 && entry.name !== ''
      const call = (apart ? undefined : findCall(entry)) ?? open(entry)
      append(call, entry, out)
    }
  }

  function findCall (entry: Entry): Call | undefined {
    const call = entry.index !== undefined
      ? calls.findLast((known) => known.index === entry.index)
      : entry.id !== '' ? calls.findLast((known) => known.upstreamId === entry.id) : calls.at(-1)
    return call === undefined || isNext(call, entry) ? undefined : call
  }

  function open (entry: Entry): Call {
    const call = { callId: uniqueId(entry.id), upstreamId: entry.id, index: entry.index, name: '', arguments: '', started: false }
    calls.push(call)
    return call
  }

  function uniqueId (id: string): string {
    let callId = id === '' ? newCallId() : id
    for (let n = 2; taken.has(callId); n++) callId = `${id}_${n}`
    taken.add(callId)
    return callId
  }

  function append (call: Call, entry: Entry, out: ModelEvent[]): void {
    if (call.name === '') call.name = entry.name
    call.arguments += entry.arguments
    if (call.name === '') return
    if (!call.started) start(call, out)
    else if (entry.arguments !== '') out.push({ type: 'tool-input-delta', callId: call.callId, delta: entry.arguments })
  }

  function start (call: Call, out: ModelEvent[]): void {
    call.started = true
    out.push({ type: 'tool-call-start', callId: call.callId, toolName: call.name })
    if (call.arguments !== '') out.push({ type: 'tool-input-delta', callId: call.callId, delta: call.arguments })
  }

  function end (ending: 'whole' | 'cut' | 'lost', out: ModelEvent[]): void {
    if (ended) return
    ended = true
    for (const call of calls) {
      if (call.name === '') {
        if (call.arguments === '') continue
        // Shown under a name no tool has, so that the model is told and can call again.
        call.name = 'unnamed_tool'
        start(call, out)
      }
      const text = isBlank(call.arguments) ? '{}' : call.arguments
      const complete = ending === 'whole' || (ending === 'cut' && isJson(text))
      out.push({ type: 'tool-call', callId: call.callId, toolName: call.name, arguments: text, complete })
    }
  }
}

/** Whether a delta that could belong to a call begins the next one instead. */
function isNext (call: Call, { id, name, arguments: more }: Entry): boolean {
  const otherId = id !== '' && call.upstreamId !== '' && id !== call.upstreamId
  if (name === '') {
    // Some servers send a fresh id with every delta of one call; only a call that is whole can be followed by another.
    return otherId && more !== '' && isWhole(call.arguments)
  }
  if (call.name === '') return otherId
  return otherId || name !== call.name || (more !== '' && isWhole(call.arguments))
}

function parseEntry (item: unknown): Entry | undefined {
  if (!isRecord(item)) return undefined
  const named = isRecord(item.function) ? item.function : item
  return {
    index: typeof item.index === 'number' ? item.index : undefined,
    id: typeof item.id === 'string' || typeof item.id === 'number' ? String(item.id) : '',
    name: typeof named.name === 'string' ? named.name.trim() : '',
    arguments: textOfArguments(named.arguments)
  }
}

function textOfArguments (value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function isBlank (text: string): boolean {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'null'
}

function isWhole (text: string): boolean {
  return text.trimEnd().endsWith('}') && isJson(text)
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
