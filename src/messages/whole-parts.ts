import { toJsonSafe } from '../tools/serialise.ts'
import type { RunEventOf } from '../events/run-event.ts'
import type { MessagePart } from './parts.ts'

/** Events that are one whole part each, unlike text and tool calls, which grow. */
export type WholePartEvent = RunEventOf<'source' | 'file' | 'data' | 'suggestions' | 'subagent-start' | 'subagent-update' | 'subagent-end' | 'run-failed' | 'run-interrupted'>

/** The part an event adds, the same object on the wire and in history. Transient data is a part too; only the wire takes it. */
export function wholePart (event: WholePartEvent, threadId: string | undefined): MessagePart {
  switch (event.type) {
    case 'source': return sourcePart(event)
    case 'file': return { type: 'file', url: event.url ?? contentPath(event.fileId, threadId), mediaType: event.mediaType }
    case 'data': return { type: `data-${event.name}`, ...(event.id === undefined ? {} : { id: event.id }), data: toJsonSafe(event.data) }
    case 'suggestions': return { type: 'data-suggestions', data: { suggestions: event.suggestions } }
    case 'subagent-start':
    case 'subagent-update':
    case 'subagent-end': {
      const { frameId, agentPath = [], status, text, reasoning } = event
      return { type: 'data-subagent', id: frameId, data: { frameId, agentPath, status, text, reasoning } }
    }
    case 'run-failed':
    case 'run-interrupted': {
      const { code, message, retryable, ref } = event
      return { type: 'data-error', data: { code, message, retryable, ref } }
    }
    default: throw new TypeError(`Not a whole part: ${(event satisfies never as WholePartEvent).type}`)
  }
}

function sourcePart ({ index, sourceId, title, fileId, url, page, snippet }: RunEventOf<'source'>): MessagePart {
  const parley = {
    index,
    ...(fileId === undefined ? {} : { fileId }),
    ...(page === undefined ? {} : { page }),
    ...(snippet === undefined ? {} : { snippet })
  }
  if (url !== undefined) return { type: 'source-url', sourceId, url, title, providerMetadata: { parley } }
  return { type: 'source-document', sourceId, mediaType: 'application/octet-stream', title, providerMetadata: { parley } }
}

function contentPath (fileId: string | undefined, threadId: string | undefined): string {
  return `/v1/threads/${threadId ?? '-'}/files/${fileId ?? '-'}/content`
}
