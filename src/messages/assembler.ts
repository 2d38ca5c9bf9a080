import { isMemberNarration } from './attribution.ts'
import { isToolPart, textOf, type MessagePart, type TextPart } from './parts.ts'
import { createToolParts, type ToolParts } from './tool-parts.ts'
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
  const message: MessageState = { parts: [], threadId: undefined, open: new Map(), toolParts: undefined }
  start(message, initial)
  return {
    apply (event) { if (!isMemberNarration(event)) take(message, event) },
    parts: () => message.parts.map((part) => ({ ...part })),
    text: () => textOf(message.parts)
  }
}

interface MessageState {
  parts: MessagePart[]
  threadId: string | undefined
  /** Blocks that have no end yet. */
  readonly open: Map<string, TextPart>
  /** Most messages have none. */
  toolParts: ToolParts | undefined
}

function take (message: MessageState, event: RunEventBody): void {
  switch (event.type) {
    case 'text-delta': case 'reasoning-delta': addText(message, event); break
    case 'text-start': openBlock(message, event.blockId, { type: 'text', text: '', state: 'streaming' }); break
    case 'reasoning-start': openBlock(message, event.blockId, { type: 'reasoning', id: event.blockId, text: '', state: 'streaming' }); break
    case 'text-end': case 'reasoning-end': closeBlock(message, event); break
    case 'step-start': beginStep(message); break
    case 'tool-call-start': case 'tool-input-delta': case 'tool-input-complete': case 'tool-input-invalid':
    case 'tool-output': case 'tool-error': case 'tool-denied': case 'approval-requested':
      tools(message).apply(event)
      break
    case 'data': if (event.transient !== true) putWhole(message, wholePart(event, message.threadId)); break
    case 'source': case 'file': case 'suggestions': case 'subagent-start': case 'subagent-update': case 'subagent-end':
    case 'run-failed': case 'run-interrupted': putWhole(message, wholePart(event, message.threadId)); break
    case 'message-start': message.threadId = event.threadId; break
    case 'snapshot': start(message, event.parts as MessagePart[]); break // made by an assembler
    case 'step-end': case 'title': case 'progress': case 'usage': case 'message-end':
    case 'run-completed': case 'run-suspended': case 'run-stopped': break
    default: event satisfies never
  }
}

function start (message: MessageState, from: readonly MessagePart[]): void {
  message.parts = from.map((part) => ({ ...part }))
  message.open.clear()
  if (message.toolParts !== undefined || message.parts.some(isToolPart)) tools(message).restart(message.parts)
}

function tools (message: MessageState): ToolParts {
  message.toolParts ??= createToolParts((part) => { message.parts.push(part) })
  return message.toolParts
}

function openBlock (message: MessageState, blockId: string, part: TextPart): void {
  message.open.set(blockId, part)
  message.parts.push(part)
}

function addText (message: MessageState, { type, blockId, delta }: RunEventOf<'text-delta' | 'reasoning-delta'>): void {
  const part = message.open.get(blockId) ?? adopt(message, type === 'text-delta' ? 'text' : 'reasoning', blockId)
  if (part !== undefined) part.text += delta
}

function closeBlock (message: MessageState, event: RunEventOf<'text-end' | 'reasoning-end'>): void {
  const { type, blockId } = event
  const part = message.open.get(blockId) ?? adopt(message, type === 'text-end' ? 'text' : 'reasoning', blockId)
  if (part !== undefined) part.state = 'done'
  if (part !== undefined && type === 'reasoning-end' && event.providerMetadata !== undefined) part.providerMetadata = event.providerMetadata
  message.open.delete(blockId)
}

/** A snapshot does not tell the id of the block it caught open; the next event of that block does. */
function adopt (message: MessageState, type: TextPart['type'], blockId: string): TextPart | undefined {
  const part = message.parts.findLast((candidate): candidate is TextPart => candidate.type === type && candidate.state === 'streaming')
  if (part !== undefined) message.open.set(blockId, part)
  return part
}

function beginStep (message: MessageState): void {
  message.toolParts?.beginStep()
  message.parts.push({ type: 'step-start' })
}

function putWhole (message: MessageState, part: MessagePart): void {
  const known = 'data' in part && part.id !== undefined
    ? message.parts.find((candidate) => candidate.type === part.type && 'data' in candidate && candidate.id === part.id)
    : undefined
  if (known !== undefined && 'data' in part) Object.assign(known, { data: part.data })
  else message.parts.push(part)
}
