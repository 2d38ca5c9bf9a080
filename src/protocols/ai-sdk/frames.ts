import { isMemberNarration } from '../../messages/attribution.ts'
import { isToolPart, type MessagePart } from '../../messages/parts.ts'
import { partsToEvents } from '../../messages/replay.ts'
import { wholePart } from '../../messages/whole-parts.ts'
import { closeBlock, createBlockIds, idOfBlock, openBlock, type BlockIds } from './block-ids.ts'
import { chunk } from './chunk.ts'
import { createMetadata, type MetadataCollector } from './metadata.ts'
import { createToolFrames, type ToolFrames } from './tool-frames.ts'
import type { FinishReason, RunEvent, RunEventBody, RunEventOf } from '../../events/run-event.ts'
import type { WireProfile } from '../../messages/wire.ts'
import type { EncodeOptions } from '../protocol.ts'

/**
 * Frames of one stream, event by event. Keys and types of the portable profile are those of ai 5.0.0 plus
 * `tool-input-error`, `finishReason`, `preliminary` and the approval chunks: older clients refuse a whole stream over one
 * unknown key. `full` has what current clients know beyond that, `v5` nothing of approvals.
 */
export function createFrameWriter ({ initialParts = [], metadata: extra = {}, profile = 'portable' }: EncodeOptions): (event: RunEvent) => string {
  const metadata = createMetadata(extra)
  const stream: StreamState = { profile, metadata, blocks: createBlockIds(), toolFrames: undefined, stepIsOpen: false, threadId: undefined }
  for (const part of initialParts) noteCall(stream, part)
  return (event) => {
    metadata.observe(event)
    return isMemberNarration(event) ? '' : frames(stream, event)
  }
}

/** What is known of one stream. Not variables that its functions share: those would be made anew for each. */
interface StreamState {
  readonly profile: WireProfile
  readonly metadata: MetadataCollector
  readonly blocks: BlockIds
  /** Most answers call nothing. */
  toolFrames: ToolFrames | undefined
  stepIsOpen: boolean
  threadId: string | undefined
}

function frames (stream: StreamState, event: RunEventBody): string {
  switch (event.type) {
    // Not JSON.stringify of the whole: these two are nearly all there is on the wire.
    case 'text-delta': return `data: {"type":"text-delta","id":${idOfBlock(stream.blocks, 'text', event.blockId)},"delta":${JSON.stringify(event.delta)}}\n\n`
    case 'reasoning-delta': return `data: {"type":"reasoning-delta","id":${idOfBlock(stream.blocks, 'reasoning', event.blockId)},"delta":${JSON.stringify(event.delta)}}\n\n`
    case 'text-start': return `data: {"type":"text-start","id":${openBlock(stream.blocks, 'text', event.blockId)}}\n\n`
    case 'reasoning-start': return `data: {"type":"reasoning-start","id":${openBlock(stream.blocks, 'reasoning', event.blockId)}}\n\n`
    case 'text-end': return `data: {"type":"text-end","id":${closeBlock(stream.blocks, 'text', event.blockId)}}\n\n`
    case 'reasoning-end': return `data: {"type":"reasoning-end","id":${closeBlock(stream.blocks, 'reasoning', event.blockId)}${notes(event.providerMetadata)}}\n\n`
    case 'message-start':
      stream.threadId = event.threadId
      return chunk({ type: 'start', messageId: event.messageId })
    case 'step-start': return beginStep(stream)
    case 'step-end': return endStep(stream)
    case 'tool-call-start': case 'tool-input-delta': case 'tool-input-complete': case 'tool-input-invalid':
    case 'tool-output': case 'tool-error': case 'tool-denied': case 'approval-requested':
      return tools(stream).frames(event)
    case 'data': return chunk({ ...wholePart(event, stream.threadId), ...(event.transient === true ? { transient: true } : {}) })
    case 'source': case 'file': case 'suggestions': case 'subagent-start': case 'subagent-update': case 'subagent-end':
      return chunk(wholePart(event, stream.threadId))
    case 'title': return chunk({ type: 'data-title', data: { title: event.title }, transient: true })
    case 'progress': return progress(event)
    case 'snapshot': return replay(stream, event.parts as MessagePart[]) // made by an assembler
    case 'usage': case 'message-end': return ''
    case 'run-completed': return endStep(stream) + finish(stream, stream.metadata.finishReason() ?? 'stop', 'completed')
    case 'run-suspended': return endStep(stream) + finish(stream, 'tool-calls', 'suspended')
    case 'run-stopped': return chunk({ type: 'abort', ...(stream.profile === 'full' ? { reason: event.reason } : {}) }) + endStep(stream) + finish(stream, 'other', 'stopped')
    case 'run-failed': return failure(stream, event) + finish(stream, 'error', 'failed')
    case 'run-interrupted': return failure(stream, event) + finish(stream, 'error', 'interrupted')
    default: return event satisfies never
  }
}

function beginStep (stream: StreamState): string {
  const before = endStep(stream)
  stream.stepIsOpen = true
  return before + chunk({ type: 'start-step' })
}

function endStep (stream: StreamState): string {
  if (!stream.stepIsOpen) return ''
  stream.stepIsOpen = false
  return chunk({ type: 'finish-step' })
}

function tools (stream: StreamState): ToolFrames {
  stream.toolFrames ??= createToolFrames(stream.profile)
  return stream.toolFrames
}

function noteCall (stream: StreamState, part: MessagePart): void {
  if (isToolPart(part)) tools(stream).note(part)
}

function failure (stream: StreamState, event: RunEventOf<'run-failed' | 'run-interrupted'>): string {
  return chunk(wholePart(event, stream.threadId)) + chunk({ type: 'error', errorText: event.message }) + endStep(stream)
}

function finish (stream: StreamState, finishReason: FinishReason, status: string): string {
  return chunk({ type: 'finish', finishReason, messageMetadata: stream.metadata.at(status, finishReason) })
}

function replay (stream: StreamState, parts: readonly MessagePart[]): string {
  for (const part of parts) noteCall(stream, part)
  return partsToEvents(parts, { end: 'open' }).map((event) => frames(stream, event)).join('')
}

function notes (providerMetadata: RunEventOf<'reasoning-end'>['providerMetadata']): string {
  return providerMetadata === undefined ? '' : `,"providerMetadata":${JSON.stringify(providerMetadata)}`
}

function progress ({ agentPath = [], callId, message, fraction }: RunEventOf<'progress'>): string {
  const data = { agentPath, ...(callId === undefined ? {} : { toolCallId: callId }), message, ...(fraction === undefined ? {} : { fraction }) }
  return chunk({ type: 'data-progress', data, transient: true })
}
