import type { RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import { refusedInput } from './refused-input.ts'

export interface OpenEnds {
  observe: (events: Batch<RunEventBody>) => void
  /** Whether the call was seen to begin and has no answer yet. */
  isAnnounced: (callId: string) => boolean
  /** Events that close what is open: text and reasoning ended, each unanswered call answered with `message`. */
  close: (message: string) => RunEventBody[]
  /**
   * Events of a new step where the last one has calls, none otherwise. Clients that send tool results by themselves do so
   * while the last step of a message is all answered calls, so a stopped message must not end in one.
   */
  stepAfterCalls: () => RunEventBody[]
}

/** Watches a run's events for what a broken run would leave open: blocks without an end, calls without an answer. */
export function createOpenEnds (): OpenEnds {
  const ends: OpenState = { blocks: new Map(), calls: undefined, endsInCalls: false, step: 0, stepIsOpen: false }
  return {
    observe (events) {
      for (const event of events) watch(ends, event)
    },
    isAnnounced: (callId) => ends.calls?.has(callId) === true,
    close: (message) => closing(ends, message),
    stepAfterCalls () {
      if (!ends.endsInCalls) return []
      return [...(ends.stepIsOpen ? [{ type: 'step-end' as const, step: ends.step }] : []), { type: 'step-start', step: ends.step + 1 }]
    }
  }
}

interface OpenState {
  readonly blocks: Map<string, { readonly type: 'text-end' | 'reasoning-end', readonly by: Origin }>
  /** From the first call on. */
  calls: Map<string, OpenCall> | undefined
  endsInCalls: boolean
  step: number
  stepIsOpen: boolean
}

function closing ({ blocks, calls }: OpenState, message: string): RunEventBody[] {
  const events: RunEventBody[] = [...blocks].map(([blockId, { type, by }]) => ({ type, blockId, ...by }))
  for (const [callId, { toolName, hasInput, input, by }] of calls ?? []) {
    if (hasInput) events.push({ type: 'tool-error', callId, code: 'tool_failed', message, ...by })
    else events.push(...refusedInput({ callId, toolName, input, message, ...by }))
  }
  return events
}

function watch (ends: OpenState, event: RunEventBody): void {
  switch (event.type) {
    case 'text-start': ends.blocks.set(event.blockId, { type: 'text-end', by: originOf(event) }); break
    case 'reasoning-start': ends.blocks.set(event.blockId, { type: 'reasoning-end', by: originOf(event) }); break
    case 'text-end': case 'reasoning-end': ends.blocks.delete(event.blockId); break
    case 'step-start': if (event.agentPath === undefined) beginStep(ends, event.step); break
    case 'step-end': if (event.agentPath === undefined) ends.stepIsOpen = false; break
    case 'tool-call-start':
      ends.endsInCalls = true
      callsOf(ends).set(event.callId, { toolName: event.toolName, hasInput: false, input: '', by: originOf(event) })
      break
    case 'tool-input-delta': addInput(ends, event.callId, event.delta); break
    case 'tool-input-complete': callsOf(ends).set(event.callId, { toolName: event.toolName, hasInput: true, input: '', by: originOf(event) }); break
    case 'tool-output': if (event.preliminary !== true) settle(ends, event.callId); break
    case 'tool-input-invalid': case 'tool-error': case 'tool-denied': settle(ends, event.callId); break
    default:
  }
}

function callsOf (ends: OpenState): Map<string, OpenCall> {
  ends.calls ??= new Map()
  return ends.calls
}

function beginStep (ends: OpenState, number: number): void {
  ends.step = number
  ends.stepIsOpen = true
  ends.endsInCalls = false
}

// Also of a call this run did not see begin: a continued run starts with the answers to the calls of the one before.
function settle (ends: OpenState, callId: string): void {
  ends.endsInCalls = true
  ends.calls?.delete(callId)
}

function addInput (ends: OpenState, callId: string, delta: string): void {
  const call = ends.calls?.get(callId)
  if (call !== undefined) call.input += delta
}

interface OpenCall { readonly toolName: string, readonly hasInput: boolean, input: string, readonly by: Origin }

/** Whose it is: below the root, what a member opened is closed as its own. */
type Origin = Pick<RunEventBody, 'agentPath'>

function originOf ({ agentPath }: RunEventBody): Origin {
  return agentPath === undefined ? {} : { agentPath }
}
