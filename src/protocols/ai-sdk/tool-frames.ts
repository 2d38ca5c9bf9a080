import type { RunEventOf, ToolEvent } from '../../events/run-event.ts'
import { attributionOf } from '../../messages/attribution.ts'
import { jsonSafe } from '../../messages/json-safe.ts'
import type { ToolPart } from '../../messages/parts.ts'
import type { WireProfile } from '../../messages/wire.ts'
import { chunk } from './chunk.ts'

export interface ToolFrames {
  frames: (event: ToolEvent) => string
  /** Takes note of a call that the stream's client knows from elsewhere. */
  note: (part: ToolPart) => void
}

/** What has to be said again with everything about a call. */
interface CallMarks { readonly dynamic?: true, readonly providerExecuted?: true }

/** The frames of one stream that tell of tool calls. */
export function createToolFrames (profile: WireProfile): ToolFrames {
  const calls = new Map<string, CallMarks>()
  const handoffs = new Map<string, string>()
  const titles = new Map<string, string>()

  return {
    frames,
    note: (part) => { calls.set(part.toolCallId, marksOf({ dynamic: part.type === 'dynamic-tool', providerExecuted: part.providerExecuted })) }
  }

  function frames (event: ToolEvent): string {
    switch (event.type) {
      case 'tool-call-start': return callStart(event)
      case 'tool-input-delta': return chunk({ type: 'tool-input-delta', toolCallId: event.callId, inputTextDelta: event.delta })
      case 'tool-input-complete': return inputAvailable(event)
      case 'tool-input-invalid': return refusedInput(event)
      case 'tool-output': return chunk({ type: 'tool-output-available', toolCallId: event.callId, output: jsonSafe(event.output), ...calls.get(event.callId), ...(event.preliminary === true ? { preliminary: true } : {}) })
      case 'tool-error': return chunk({ type: 'tool-output-error', toolCallId: event.callId, errorText: event.message, ...calls.get(event.callId) })
      case 'tool-denied': return denied(event)
      case 'approval-requested': return approvalRequested(event)
      default: return event satisfies never
    }
  }

  function callStart (event: RunEventOf<'tool-call-start'>): string {
    const { callId, toolName, title, handoff } = event
    const marks = marksOf(event)
    calls.set(callId, marks)
    if (handoff !== undefined) handoffs.set(callId, handoff)
    const start = { type: 'tool-input-start', toolCallId: callId, toolName, ...marks }
    if (profile !== 'full') return chunk(start)
    if (title !== undefined) titles.set(callId, title)
    const attribution = attributionOf(event, handoff)
    return chunk({ ...start, ...titleOf(callId), ...(attribution === undefined ? {} : { providerMetadata: attribution }) })
  }

  function inputAvailable (event: RunEventOf<'tool-input-complete'>): string {
    const { callId, toolName, input } = event
    const attribution = attributionOf(event, handoffs.get(callId))
    return chunk({ type: 'tool-input-available', toolCallId: callId, toolName, input: jsonSafe(input), ...calls.get(callId), ...titleOf(callId), ...(attribution === undefined ? {} : { providerMetadata: attribution }) })
  }

  /**
   * Of the same `tool-input-error`, ai 5 and 6 keep the input as `rawInput` and ai 7 keeps it as `input`. Streaming it
   * once more and failing the call leaves all three with both, equal to what is stored; unlike `tool-input-available`
   * it never makes a client run the call. Parts of dynamic tools do not differ.
   */
  function refusedInput ({ callId, toolName, input, message }: RunEventOf<'tool-input-invalid'>): string {
    const value = jsonSafe(input)
    const refusal = chunk({ type: 'tool-input-error', toolCallId: callId, toolName, input: value, errorText: message, ...calls.get(callId), ...titleOf(callId) })
    if (calls.get(callId)?.dynamic === true) return refusal
    return refusal +
      chunk({ type: 'tool-input-start', toolCallId: callId, toolName }) +
      chunk({ type: 'tool-input-delta', toolCallId: callId, inputTextDelta: JSON.stringify(value) }) +
      chunk({ type: 'tool-output-error', toolCallId: callId, errorText: message })
  }

  /** Clients of version 5 have no state for a call that waits or that was denied: they keep one and fail the other. */
  function approvalRequested ({ approvalId, callId, expiresAt }: RunEventOf<'approval-requested'>): string {
    if (profile !== 'v5') return chunk({ type: 'tool-approval-request', approvalId, toolCallId: callId })
    return chunk({ type: 'data-approval', id: approvalId, data: { approvalId, toolCallId: callId, ...(expiresAt === '' ? {} : { expiresAt }) } })
  }

  function denied ({ callId, reason }: RunEventOf<'tool-denied'>): string {
    if (profile !== 'v5') return chunk({ type: 'tool-output-denied', toolCallId: callId })
    return chunk({ type: 'tool-output-error', toolCallId: callId, errorText: reason === undefined ? 'Denied.' : `Denied: ${reason}`, ...calls.get(callId) })
  }

  function titleOf (callId: string): { title?: string } {
    const title = titles.get(callId)
    return title === undefined ? {} : { title }
  }
}

function marksOf ({ dynamic, providerExecuted }: { readonly dynamic?: boolean | undefined, readonly providerExecuted?: boolean | undefined }): CallMarks {
  return { ...(dynamic === true ? { dynamic } : {}), ...(providerExecuted === true ? { providerExecuted } : {}) }
}
