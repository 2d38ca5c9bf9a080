import { toJsonSafe } from '../tools/serialise.ts'
import { attributionOf, isMemberNarration } from './attribution.ts'
import { isToolPart, textOf, type MessagePart, type TextPart, type ToolPart } from './parts.ts'
import { wholePart } from './whole-parts.ts'
import type { RunEventBody, RunEventOf } from '../events/run-event.ts'

export interface Assembler {
  apply: (event: RunEventBody) => void
  /** The parts so far. Later events do not change what was handed out. */
  parts: () => readonly MessagePart[]
  /** The text a person would read in them. */
  text: () => string
}

/**
 * Builds the stored parts of a message from a run's events: what chat clients make of the same events on the wire, so
 * that a reload shows what the live view had. `initial` are the parts a continued run goes on from.
 */
export function createAssembler (initial: readonly MessagePart[] = []): Assembler {
  let parts: MessagePart[] = []
  let threadId: string | undefined
  const open = new Map<string, TextPart>()
  const calls = new Map<string, ToolPart>()
  const callsOfStep = new Set<string>()
  const handoffs = new Map<string, string>()
  start(initial)

  return {
    apply (event) { if (!isMemberNarration(event)) take(event) },
    parts: () => parts.map((part) => ({ ...part })),
    text: () => textOf(parts)
  }

  function take (event: RunEventBody): void {
    switch (event.type) {
      case 'text-delta': case 'reasoning-delta': addText(event); break
      case 'text-start': openBlock(event.blockId, { type: 'text', text: '', state: 'streaming' }); break
      case 'reasoning-start': openBlock(event.blockId, { type: 'reasoning', id: event.blockId, text: '', state: 'streaming' }); break
      case 'text-end': case 'reasoning-end': closeBlock(event); break
      case 'step-start': beginStep(); break
      case 'tool-call-start': startCall(event); break
      case 'tool-input-delta': addInput(event); break
      case 'tool-input-complete': completeInput(event); break
      case 'tool-input-invalid': refuseInput(event); break
      case 'tool-output': putOutput(event); break
      case 'tool-error': putError(event); break
      case 'tool-denied': putDenial(event); break
      case 'approval-requested': requestApproval(event); break
      case 'data': if (event.transient !== true) putWhole(wholePart(event, threadId)); break
      case 'source': case 'file': case 'suggestions': case 'subagent-start': case 'subagent-update': case 'subagent-end':
      case 'run-failed': case 'run-interrupted': putWhole(wholePart(event, threadId)); break
      case 'message-start': threadId = event.threadId; break
      case 'snapshot': start(event.parts as MessagePart[]); break // made by an assembler
      case 'step-end': case 'title': case 'progress': case 'usage': case 'message-end':
      case 'run-completed': case 'run-suspended': case 'run-stopped': break
      default: event satisfies never
    }
  }

  function start (from: readonly MessagePart[]): void {
    parts = from.map((part) => ({ ...part }))
    open.clear()
    calls.clear()
    callsOfStep.clear()
    const lastStep = parts.findLastIndex((part) => part.type === 'step-start')
    for (const [index, part] of parts.entries()) {
      if (!isToolPart(part)) continue
      calls.set(part.toolCallId, part)
      if (index > lastStep) callsOfStep.add(part.toolCallId)
    }
  }

  function openBlock (blockId: string, part: TextPart): void {
    open.set(blockId, part)
    parts.push(part)
  }

  function addText ({ type, blockId, delta }: RunEventOf<'text-delta' | 'reasoning-delta'>): void {
    const part = open.get(blockId) ?? adopt(type === 'text-delta' ? 'text' : 'reasoning', blockId)
    if (part !== undefined) part.text += delta
  }

  function closeBlock (event: RunEventOf<'text-end' | 'reasoning-end'>): void {
    const { type, blockId } = event
    const part = open.get(blockId) ?? adopt(type === 'text-end' ? 'text' : 'reasoning', blockId)
    if (part !== undefined) part.state = 'done'
    if (part !== undefined && type === 'reasoning-end' && event.providerMetadata !== undefined) part.providerMetadata = event.providerMetadata
    open.delete(blockId)
  }

  /** A snapshot does not tell the id of the block it caught open; the next event of that block does. */
  function adopt (type: TextPart['type'], blockId: string): TextPart | undefined {
    const part = parts.findLast((candidate): candidate is TextPart => candidate.type === type && candidate.state === 'streaming')
    if (part !== undefined) open.set(blockId, part)
    return part
  }

  function beginStep (): void {
    callsOfStep.clear()
    parts.push({ type: 'step-start' })
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
    parts.push(part)
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

  function putWhole (part: MessagePart): void {
    const known = 'data' in part && part.id !== undefined
      ? parts.find((candidate) => candidate.type === part.type && 'data' in candidate && candidate.id === part.id)
      : undefined
    if (known !== undefined && 'data' in part) Object.assign(known, { data: part.data })
    else parts.push(part)
  }
}

/**
 * Marks everything unfinished as finished: text is done, a call without a result has failed with `message`. For parts
 * whose run will not go on.
 */
export function closeParts (parts: readonly MessagePart[], message: string): readonly MessagePart[] {
  return parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.state === 'streaming' ? { ...part, state: 'done' as const } : part
    return isToolPart(part) && isUnanswered(part) ? failed(part, message) : part
  })
}

/** True while a call has no final result. */
export function isUnanswered (part: ToolPart): boolean {
  switch (part.state) {
    case 'output-available': return part.preliminary === true
    case 'output-error': case 'output-denied': return false
    default: return true
  }
}

function failed (part: ToolPart, message: string): ToolPart {
  if (part.approval !== undefined && part.approval.approved !== true) return { ...part, ...denied(part, part.approval.reason ?? message) }
  const copy = { ...part }
  if (part.state === 'input-streaming') settle(copy, refusedInput(part.rawInput ?? null, message, part.type === 'dynamic-tool'))
  else settle(copy, { state: 'output-error', input: part.input, errorText: message })
  return copy
}

/** What has run was allowed. */
function allowed ({ approval }: ToolPart): Pick<ToolPart, 'approval'> {
  return approval === undefined ? {} : { approval: { ...approval, approved: true } }
}

/** A verdict stays with its call as long as clients show it. */
function denied ({ approval }: ToolPart, reason: string | undefined): Pick<ToolPart, 'state' | 'approval'> {
  if (approval === undefined) return { state: 'output-denied' }
  return { state: 'output-denied', approval: { id: approval.id, approved: false, ...(reason === undefined ? {} : { reason }) } }
}

type Outcome = Pick<ToolPart, 'state'> & Partial<Pick<ToolPart, 'input' | 'rawInput' | 'output' | 'errorText' | 'preliminary' | 'approval'>>

/** The fields of an outcome replace those of the one before; what identifies and attributes the call stays. */
function settle (part: ToolPart, outcome: Outcome): void {
  delete part.rawInput
  delete part.output
  delete part.errorText
  delete part.preliminary
  part.input = undefined
  Object.assign(part, outcome)
  if (part.input === undefined) delete (part as { input?: unknown }).input
}

/** How chat clients hold a call that could not be read: see the encoder's refused input. */
function refusedInput (input: unknown, message: string, dynamic: boolean): Outcome {
  const value = toJsonSafe(input)
  return { state: 'output-error', input: value, errorText: message, ...(dynamic ? {} : { rawInput: JSON.stringify(value) }) }
}
