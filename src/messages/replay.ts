import { toolNameOf, isToolPart, type MessagePart, type ToolPart } from './parts.ts'
import type { RunEventBody } from '../events/run-event.ts'

/**
 * Events that make these parts again: what stands between `message-start` and `message-end`. `open` leaves the last
 * step and what still streams in it open, for a run whose next events follow; `closed` ends the step.
 */
export function partsToEvents (parts: readonly MessagePart[], { end }: { end: 'closed' | 'open' } = { end: 'closed' }): RunEventBody[] {
  const events: RunEventBody[] = []
  let step = 0
  for (const [index, part] of parts.entries()) {
    if (part.type === 'step-start') {
      if (step > 0) events.push({ type: 'step-end', step })
      events.push({ type: 'step-start', step: ++step })
    } else events.push(...partEvents(part, `replay-${index}`))
  }
  if (step > 0 && end === 'closed') events.push({ type: 'step-end', step })
  return events
}

function partEvents (part: MessagePart, blockId: string): RunEventBody[] {
  if (isToolPart(part)) return callEvents(part)
  switch (part.type) {
    case 'text': return [{ type: 'text-start', blockId }, ...delta('text-delta', blockId, part.text), ...blockEnd('text-end', blockId, part.state)]
    case 'reasoning': {
      const id = part.id ?? blockId
      return [{ type: 'reasoning-start', blockId: id }, ...delta('reasoning-delta', id, part.text), ...reasoningEnd(id, part)]
    }
    case 'file': return [{ type: 'file', url: part.url, mediaType: part.mediaType }]
    case 'source-url': return [{ type: 'source', ...sourceFields(part) }]
    case 'source-document': return [{ type: 'source', ...sourceFields(part) }]
    case 'step-start': return []
    default: return 'data' in part ? [{ type: 'data', name: part.type.slice('data-'.length), data: part.data, ...(part.id === undefined ? {} : { id: part.id }) }] : []
  }
}

function delta (type: 'text-delta' | 'reasoning-delta', blockId: string, text: string): RunEventBody[] {
  return text === '' ? [] : [{ type, blockId, delta: text }]
}

function blockEnd (type: 'text-end' | 'reasoning-end', blockId: string, state: 'streaming' | 'done' | undefined): RunEventBody[] {
  return state === 'streaming' ? [] : [{ type, blockId }]
}

function reasoningEnd (blockId: string, { state, providerMetadata }: MessagePart & { type: 'reasoning' }): RunEventBody[] {
  return state === 'streaming' ? [] : [{ type: 'reasoning-end', blockId, ...(providerMetadata === undefined ? {} : { providerMetadata }) }]
}

function sourceFields (part: MessagePart & { type: 'source-url' | 'source-document' }) {
  const { sourceId, title = '' } = part
  const parley = part.providerMetadata?.['parley'] ?? {}
  const url = part.type === 'source-url' ? { url: part.url } : {}
  // Written by wholePart, whose event had these types.
  return { index: 0, ...parley as { index?: number, fileId?: string, page?: number, snippet?: string }, sourceId, title, ...url }
}

function callEvents (part: ToolPart): RunEventBody[] {
  const { toolCallId: callId } = part
  const toolName = toolNameOf(part)
  const start: RunEventBody = { type: 'tool-call-start', callId, toolName, ...(part.type === 'dynamic-tool' ? { dynamic: true } : {}), ...(part.providerExecuted === true ? { providerExecuted: true } : {}) }
  if (part.state === 'input-streaming') {
    return typeof part.rawInput === 'string' ? [start, { type: 'tool-input-delta', callId, delta: part.rawInput }] : [start]
  }
  if (part.state === 'output-error' && part.rawInput !== undefined) {
    return [start, { type: 'tool-input-invalid', callId, toolName, input: part.input, message: part.errorText ?? '' }]
  }
  const attribution = part.callProviderMetadata?.['parley']
  const complete: RunEventBody = { type: 'tool-input-complete', callId, toolName, input: part.input, ...(attribution === undefined ? {} : { attribution }) }
  return [start, complete, ...approvalEvents(part), ...outcomeEvents(part)]
}

function approvalEvents ({ approval, toolCallId: callId }: ToolPart): RunEventBody[] {
  return approval === undefined ? [] : [{ type: 'approval-requested', approvalId: approval.id, callId, expiresAt: '' }]
}

function outcomeEvents (part: ToolPart): RunEventBody[] {
  const { toolCallId: callId } = part
  switch (part.state) {
    case 'output-available': return [{ type: 'tool-output', callId, output: part.output, ...(part.preliminary === true ? { preliminary: true } : {}) }]
    case 'output-error': return [{ type: 'tool-error', callId, code: 'tool_failed', message: part.errorText ?? '' }]
    case 'output-denied': return [{ type: 'tool-denied', callId, ...(part.approval?.reason === undefined ? {} : { reason: part.approval.reason }) }]
    case 'input-streaming': case 'input-available': case 'approval-requested': case 'approval-responded': return []
    default: return part.state satisfies never
  }
}
