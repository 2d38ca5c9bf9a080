import type { RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'

export interface OpenEnds {
  observe: (events: Batch<RunEventBody>) => void
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
  const blocks = new Map<string, 'text-end' | 'reasoning-end'>()
  const calls = new Map<string, { toolName: string, hasInput: boolean, input: string }>()
  let endsInCalls = false
  let step = 0
  let stepIsOpen = false

  return {
    observe (events) {
      for (const event of events) watch(event)
    },
    close (message) {
      const closing: RunEventBody[] = [...blocks].map(([blockId, type]) => ({ type, blockId }))
      for (const [callId, { toolName, hasInput, input }] of calls) {
        if (hasInput) closing.push({ type: 'tool-error', callId, code: 'tool_failed', message })
        else closing.push({ type: 'tool-input-invalid', callId, toolName, input, message })
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
      case 'text-start': blocks.set(event.blockId, 'text-end'); break
      case 'reasoning-start': blocks.set(event.blockId, 'reasoning-end'); break
      case 'text-end': case 'reasoning-end': blocks.delete(event.blockId); break
      case 'step-start': if (event.agentPath === undefined) beginStep(event.step); break
      case 'step-end': if (event.agentPath === undefined) stepIsOpen = false; break
      case 'tool-call-start':
        endsInCalls = true
        calls.set(event.callId, { toolName: event.toolName, hasInput: false, input: '' })
        break
      case 'tool-input-delta': addInput(event.callId, event.delta); break
      case 'tool-input-complete': calls.set(event.callId, { toolName: event.toolName, hasInput: true, input: '' }); break
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
