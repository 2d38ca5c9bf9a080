import type { RunEventOf, ToolEvent } from '../events/run-event.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import { attributionOf } from './attribution.ts'
import { isToolPart, type MessagePart, type ToolPart } from './parts.ts'
import { allowed, denied, refusedInput, settle } from './tool-outcome.ts'

export interface ToolParts {
  apply: (event: ToolEvent) => void
  /** A call that is told again in a further step is another one. */
  beginStep: () => void
  /** Goes on with the calls among these parts, and changes them. */
  restart: (parts: readonly MessagePart[]) => void
}

/** The parts of a message that are tool calls. `add` puts a new one at its end. */
export function createToolParts (add: (part: ToolPart) => void): ToolParts {
  const calls = new Map<string, ToolPart>()
  const callsOfStep = new Set<string>()
  const handoffs = new Map<string, string>()

  return { apply, restart, beginStep: () => { callsOfStep.clear() } }

  function apply (event: ToolEvent): void {
    switch (event.type) {
      case 'tool-call-start': startCall(event); break
      case 'tool-input-delta': addInput(event); break
      case 'tool-input-complete': completeInput(event); break
      case 'tool-input-invalid': refuseInput(event); break
      case 'tool-output': putOutput(event); break
      case 'tool-error': putError(event); break
      case 'tool-denied': putDenial(event); break
      case 'approval-requested': requestApproval(event); break
      default: event satisfies never
    }
  }

  function restart (parts: readonly MessagePart[]): void {
    calls.clear()
    callsOfStep.clear()
    const lastStep = parts.findLastIndex((part) => part.type === 'step-start')
    for (const [index, part] of parts.entries()) {
      if (!isToolPart(part)) continue
      calls.set(part.toolCallId, part)
      if (index > lastStep) callsOfStep.add(part.toolCallId)
    }
  }

  function startCall (event: RunEventOf<'tool-call-start'>): void {
    const { callId, toolName, dynamic, handoff, providerExecuted } = event
    if (handoff !== undefined) handoffs.set(callId, handoff)
    const part = callOf(callId, toolName, dynamic)
    settle(part, { state: 'input-streaming' })
    // Already now: what a crash leaves of a member's call must not be taken for the coordinator's.
    if (event.agentPath !== undefined) part.callProviderMetadata = attributionOf(event, undefined)
    if (providerExecuted === true) part.providerExecuted = true
  }

  /** The part of a call in the current step, made when it is new there. */
  function callOf (callId: string, toolName: string, dynamic: boolean | undefined): ToolPart {
    const known = callsOfStep.has(callId) ? calls.get(callId) : undefined
    if (known !== undefined) return known
    const fields = { toolCallId: callId, state: 'input-streaming' as const, input: undefined }
    const part: ToolPart = dynamic === true ? { type: 'dynamic-tool', toolName, ...fields } : { type: `tool-${toolName}`, ...fields }
    calls.set(callId, part)
    callsOfStep.add(callId)
    add(part)
    return part
  }

  function addInput ({ callId, delta }: RunEventOf<'tool-input-delta'>): void {
    const part = calls.get(callId)
    if (part !== undefined) part.rawInput = `${typeof part.rawInput === 'string' ? part.rawInput : ''}${delta}`
  }

  function completeInput (event: RunEventOf<'tool-input-complete'>): void {
    const part = callOf(event.callId, event.toolName, undefined)
    settle(part, { state: 'input-available', input: toJsonSafe(event.input) })
    const attribution = attributionOf(event, handoffs.get(event.callId))
    if (attribution !== undefined) part.callProviderMetadata = attribution
  }

  function refuseInput (event: RunEventOf<'tool-input-invalid'>): void {
    const part = callOf(event.callId, event.toolName, undefined)
    settle(part, refusedInput(event.input, event.message, part.type === 'dynamic-tool'))
  }

  function putOutput ({ callId, output, preliminary }: RunEventOf<'tool-output'>): void {
    const part = calls.get(callId)
    if (part === undefined) return
    settle(part, { state: 'output-available', input: part.input, output: toJsonSafe(output), ...(preliminary === true ? { preliminary } : {}), ...allowed(part) })
  }

  function putError ({ callId, message }: RunEventOf<'tool-error'>): void {
    const part = calls.get(callId)
    if (part !== undefined) settle(part, { state: 'output-error', input: part.input, errorText: message, ...allowed(part) })
  }

  function requestApproval ({ callId, approvalId }: RunEventOf<'approval-requested'>): void {
    const part = calls.get(callId)
    if (part !== undefined) Object.assign(part, { state: 'approval-requested', approval: { id: approvalId } })
  }

  function putDenial ({ callId, reason }: RunEventOf<'tool-denied'>): void {
    const part = calls.get(callId)
    if (part !== undefined) Object.assign(part, denied(part, reason))
  }
}
