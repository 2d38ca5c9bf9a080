import { isMemberNarration } from '../../messages/attribution.ts'
import { isToolPart, type MessagePart } from '../../messages/parts.ts'
import { partsToEvents } from '../../messages/replay.ts'
import { wholePart } from '../../messages/whole-parts.ts'
import { chunk } from './chunk.ts'
import { createMetadata } from './metadata.ts'
import { createToolFrames, type ToolFrames } from './tool-frames.ts'
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
  /** Most answers call nothing. */
  let toolFrames: ToolFrames | undefined
  let stepIsOpen = false
  let threadId: string | undefined
  initialParts.forEach(noteCall)

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
      case 'tool-call-start': case 'tool-input-delta': case 'tool-input-complete': case 'tool-input-invalid':
      case 'tool-output': case 'tool-error': case 'tool-denied': case 'approval-requested':
        return tools().frames(event)
      case 'data': return chunk({ ...wholePart(event, threadId), ...(event.transient === true ? { transient: true } : {}) })
      case 'source': case 'file': case 'suggestions': case 'subagent-start': case 'subagent-update': case 'subagent-end':
        return chunk(wholePart(event, threadId))
      case 'title': return chunk({ type: 'data-title', data: { title: event.title }, transient: true })
      case 'progress': return progress(event)
      case 'snapshot': return replay(event.parts as MessagePart[]) // made by an assembler
      case 'usage': case 'message-end': return ''
      case 'run-completed': return endStep() + finish(metadata.finishReason() ?? 'stop', 'completed')
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

  function tools (): ToolFrames {
    return toolFrames ??= createToolFrames(profile)
  }

  function noteCall (part: MessagePart): void {
    if (isToolPart(part)) tools().note(part)
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

function notes (providerMetadata: RunEventOf<'reasoning-end'>['providerMetadata']): string {
  return providerMetadata === undefined ? '' : `,"providerMetadata":${JSON.stringify(providerMetadata)}`
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
