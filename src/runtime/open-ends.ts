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
  const blocks = new Map<string, { readonly type: 'text-end' | 'reasoning-end', readonly by: Origin }>()
  const calls = new Map<string, OpenCall>()
  let endsInCalls = false
  let step = 0
  let stepIsOpen = false

  return {
    observe (events) {
      for (const event of events) watch(event)
    },
    isAnnounced: (callId) => calls.has(callId),
    close (message) {
      const closing: RunEventBody[] = [...blocks].map(([blockId, { type, by }]) => ({ type, blockId, ...by }))
      for (const [callId, { toolName, hasInput, input, by }] of calls) {
        if (hasInput) closing.push({ type: 'tool-error', callId, code: 'tool_failed', message, ...by })
        else closing.push(...refusedInput({ callId, toolName, input, message, ...by }))
      }
      return closing
    },
    stepAfterCalls () {
      if (!endsInCalls) return []
      return [...(stepIsOpen ? [{ type: 'step-end' as const, step }] : []), { type: 'step-start', step: step + 1 }]
    }
  }

  function watch (event: RunEventBody): void {
    switch (event.type) {
      case 'text-start': blocks.set(event.blockId, { type: 'text-end', by: originOf(event) }); break
      case 'reasoning-start': blocks.set(event.blockId, { type: 'reasoning-end', by: originOf(event) }); break
      case 'text-end': case 'reasoning-end': blocks.delete(event.blockId); break
      case 'step-start': if (event.agentPath === undefined) beginStep(event.step); break
      case 'step-end': if (event.agentPath === undefined) stepIsOpen = false; break
      case 'tool-call-start':
        endsInCalls = true
        calls.set(event.callId, { toolName: event.toolName, hasInput: false, input: '', by: originOf(event) })
        break
      case 'tool-input-delta': addInput(event.callId, event.delta); break
      case 'tool-input-complete': calls.set(event.callId, { toolName: event.toolName, hasInput: true, input: '', by: originOf(event) }); break
      case 'tool-output': if (event.preliminary !== true) settle(event.callId); break
      case 'tool-input-invalid': case 'tool-error': case 'tool-denied': settle(event.callId); break
      default:
    }
  }

  function beginStep (number: number): void {
    step = number
    stepIsOpen = true
    endsInCalls = false
  }

  // Also of a call this run did not see begin: a continued run starts with the answers to the calls of the one before.
  function settle (callId: string): void {
    endsInCalls = true
    calls.delete(callId)
  }

  function addInput (callId: string, delta: string): void {
    const call = calls.get(callId)
    if (call !== undefined) call.input += delta
  }
}

interface OpenCall { readonly toolName: string, readonly hasInput: boolean, input: string, readonly by: Origin }

/** Whose it is: below the root, what a member opened is closed as its own. */
type Origin = Pick<RunEventBody, 'agentPath'>

function originOf ({ agentPath }: RunEventBody): Origin {
  return agentPath === undefined ? {} : { agentPath }
}
