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
  let parts: MessagePart[] = []
  let threadId: string | undefined
  const open = new Map<string, TextPart>()
  /** Most messages have none. */
  let toolParts: ToolParts | undefined
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
      case 'tool-call-start': case 'tool-input-delta': case 'tool-input-complete': case 'tool-input-invalid':
      case 'tool-output': case 'tool-error': case 'tool-denied': case 'approval-requested':
        tools().apply(event)
        break
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
    if (toolParts !== undefined || parts.some(isToolPart)) tools().restart(parts)
  }

  function tools (): ToolParts {
    return toolParts ??= createToolParts((part) => { parts.push(part) })
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
    toolParts?.beginStep()
    parts.push({ type: 'step-start' })
  }

  function putWhole (part: MessagePart): void {
    const known = 'data' in part && part.id !== undefined
      ? parts.find((candidate) => candidate.type === part.type && 'data' in candidate && candidate.id === part.id)
      : undefined
    if (known !== undefined && 'data' in part) Object.assign(known, { data: part.data })
    else parts.push(part)
  }
}
