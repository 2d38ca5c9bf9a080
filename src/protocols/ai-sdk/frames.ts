import { attributionOf, isMemberNarration } from '../../messages/attribution.ts'
import { jsonSafe } from '../../messages/json-safe.ts'
import { isToolPart, type MessagePart } from '../../messages/parts.ts'
import { partsToEvents } from '../../messages/replay.ts'
import { wholePart } from '../../messages/whole-parts.ts'
import { dataFrame } from '../sse.ts'
import { createMetadata } from './metadata.ts'
import type { FinishReason, RunEvent, RunEventBody, RunEventOf } from '../../events/run-event.ts'
import type { EncodeOptions } from '../protocol.ts'

/**
 * Frames of one stream, event by event. Keys and types of the portable profile are those of ai 5.0.0 plus
 * `tool-input-error`, `finishReason`, `preliminary` and the approval chunks: older clients refuse a whole stream over one
 * unknown key. `full` has what current clients know beyond that, `v5` nothing of approvals.
 */
export function createFrameWriter ({ initialParts = [], metadata: extra = {}, profile = 'portable' }: EncodeOptions): (event: RunEvent) => string {
  const metadata = createMetadata(extra)
  const blocks = createBlocks()
  const calls = new Map<string, CallMarks>()
  initialParts.forEach(noteCall)
  const handoffs = new Map<string, string>()
  const titles = new Map<string, string>()
  let stepIsOpen = false
  let threadId: string | undefined

  return (event) => {
    metadata.observe(event)
    return isMemberNarration(event) ? '' : frames(event)
  }

  function frames (event: RunEventBody): string {
    switch (event.type) {
      // Not JSON.stringify of the whole: these two are nearly all there is on the wire.
      case 'text-delta': return `data: {"type":"text-delta","id":${blocks.idOf('text', event.blockId)},"delta":${JSON.stringify(event.delta)}}\n\n`
      case 'reasoning-delta': return `data: {"type":"reasoning-delta","id":${blocks.idOf('reasoning', event.blockId)},"delta":${JSON.stringify(event.delta)}}\n\n`
      case 'text-start': return `data: {"type":"text-start","id":${blocks.open('text', event.blockId)}}\n\n`
      case 'reasoning-start': return `data: {"type":"reasoning-start","id":${blocks.open('reasoning', event.blockId)}}\n\n`
      case 'text-end': return `data: {"type":"text-end","id":${blocks.close('text', event.blockId)}}\n\n`
      case 'reasoning-end': return `data: {"type":"reasoning-end","id":${blocks.close('reasoning', event.blockId)}${notes(event.providerMetadata)}}\n\n`
      case 'message-start':
        threadId = event.threadId
        return chunk({ type: 'start', messageId: event.messageId })
      case 'step-start': return beginStep()
      case 'step-end': return endStep()
      case 'tool-call-start': return callStart(event)
      case 'tool-input-delta': return chunk({ type: 'tool-input-delta', toolCallId: event.callId, inputTextDelta: event.delta })
      case 'tool-input-complete': return inputAvailable(event)
      case 'tool-input-invalid': return refusedInput(event)
      case 'tool-output': return chunk({ type: 'tool-output-available', toolCallId: event.callId, output: jsonSafe(event.output), ...calls.get(event.callId), ...(event.preliminary === true ? { preliminary: true } : {}) })
      case 'tool-error': return chunk({ type: 'tool-output-error', toolCallId: event.callId, errorText: event.message, ...calls.get(event.callId) })
      case 'tool-denied': return denied(event)
      case 'approval-requested': return approvalRequested(event)
      case 'data': return chunk({ ...wholePart(event, threadId), ...(event.transient === true ? { transient: true } : {}) })
      case 'source': case 'file': case 'suggestions': case 'subagent-start': case 'subagent-update': case 'subagent-end':
        return chunk(wholePart(event, threadId))
      case 'title': return chunk({ type: 'data-title', data: { title: event.title }, transient: true })
      case 'progress': return progress(event)
      case 'snapshot': return replay(event.parts as MessagePart[]) // made by an assembler
      case 'usage': case 'message-end': return ''
      case 'run-completed': return endStep() + finish(metadata.finishReason ?? 'stop', 'completed')
      case 'run-suspended': return endStep() + finish('tool-calls', 'suspended')
      case 'run-stopped': return chunk({ type: 'abort', ...(profile === 'full' ? { reason: event.reason } : {}) }) + endStep() + finish('other', 'stopped')
      case 'run-failed': return failure(event) + finish('error', 'failed')
      case 'run-interrupted': return failure(event) + finish('error', 'interrupted')
      default: return event satisfies never
    }
  }

  function beginStep (): string {
    const before = endStep()
    stepIsOpen = true
    return before + chunk({ type: 'start-step' })
  }

  function endStep (): string {
    if (!stepIsOpen) return ''
    stepIsOpen = false
    return chunk({ type: 'finish-step' })
  }

  function callStart (event: RunEventOf<'tool-call-start'>): string {
    const { callId, toolName, title, dynamic, handoff, providerExecuted } = event
    calls.set(callId, { ...(dynamic === true ? { dynamic } : {}), ...(providerExecuted === true ? { providerExecuted } : {}) })
    if (handoff !== undefined) handoffs.set(callId, handoff)
    const start = { type: 'tool-input-start', toolCallId: callId, toolName, ...calls.get(callId) }
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

  function noteCall (part: MessagePart): void {
    if (isToolPart(part)) calls.set(part.toolCallId, { ...(part.type === 'dynamic-tool' ? { dynamic: true } : {}), ...(part.providerExecuted === true ? { providerExecuted: true } : {}) })
  }

  function failure (event: RunEventOf<'run-failed' | 'run-interrupted'>): string {
    return chunk(wholePart(event, threadId)) + chunk({ type: 'error', errorText: event.message }) + endStep()
  }

  function finish (finishReason: FinishReason, status: string): string {
    return chunk({ type: 'finish', finishReason, messageMetadata: metadata.at(status, finishReason) })
  }

  function replay (parts: readonly MessagePart[]): string {
    parts.forEach(noteCall)
    return partsToEvents(parts, { end: 'open' }).map(frames).join('')
  }
}

interface CallMarks { readonly dynamic?: true, readonly providerExecuted?: true }

function notes (providerMetadata: RunEventOf<'reasoning-end'>['providerMetadata']): string {
  return providerMetadata === undefined ? '' : `,"providerMetadata":${JSON.stringify(providerMetadata)}`
}

type Chunk = MessagePart | ({ readonly type: string } & Readonly<Record<string, unknown>>)

function chunk (value: Chunk): string {
  return dataFrame(JSON.stringify(value))
}

function progress ({ agentPath = [], callId, message, fraction }: RunEventOf<'progress'>): string {
  const data = { agentPath, ...(callId === undefined ? {} : { toolCallId: callId }), message, ...(fraction === undefined ? {} : { fraction }) }
  return chunk({ type: 'data-progress', data, transient: true })
}

type BlockKind = 'text' | 'reasoning'

/**
 * Ids of blocks as JSON. A delta whose block was never opened belongs to the block that a snapshot left open under an id
 * of its own.
 */
function createBlocks () {
  const ids = new Map<string, string>()
  const latest: Partial<Record<BlockKind, string>> = {}
  // One block streams at a time, so its id is made once.
  let lastBlock: string | undefined
  let lastId = ''

  return { open, idOf, close }

  function open (kind: BlockKind, blockId: string): string {
    const id = JSON.stringify(blockId)
    ids.set(blockId, id)
    latest[kind] = id
    lastBlock = blockId
    lastId = id
    return id
  }

  function idOf (kind: BlockKind, blockId: string): string {
    if (blockId === lastBlock) return lastId
    lastBlock = blockId
    lastId = ids.get(blockId) ?? latest[kind] ?? JSON.stringify(blockId)
    ids.set(blockId, lastId)
    return lastId
  }

  function close (kind: BlockKind, blockId: string): string {
    const id = idOf(kind, blockId)
    ids.delete(blockId)
    lastBlock = undefined
    if (latest[kind] === id) delete latest[kind]
    return id
  }
}
