import { attachedId } from '../../messages/attachment.ts'
import type { MessagePart } from '../../messages/parts.ts'
import type { MessageView, Rating } from '../../threads/message.ts'
import type { MessageMetadata } from './metadata.ts'

/** A message as chat clients hold it. */
export interface UIMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly metadata: MessageMetadata & { readonly rating?: Rating, readonly siblings: number, readonly branchHeadId?: string }
  readonly parts: readonly MessagePart[]
}

export interface Shown {
  readonly threadId: string
  /** In front of the paths of uploads, so that browsers of other origins find them. */
  readonly baseUrl?: string
}

/** A stored message as history shows it: under the id its client knows it by. */
export function toUIMessage (view: MessageView, { threadId, baseUrl = '' }: Shown): UIMessage {
  const { id, clientId, role, parts, status, finishReason, usage, costUsd, processingMs, model, runId, createdAt, rating, siblings, branchHeadId } = view
  const metadata = {
    createdAt: createdAt.toISOString(),
    status,
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(processingMs === undefined ? {} : { processingMs }),
    ...(model === undefined ? {} : { model }),
    threadId,
    ...(runId === undefined ? {} : { runId }),
    ...(rating === undefined ? {} : { rating }),
    siblings,
    ...(branchHeadId === undefined ? {} : { branchHeadId })
  }
  return { id: clientId ?? id, role, metadata, parts: parts.map((part) => withAddress(part, baseUrl)) }
}

function withAddress (part: MessagePart, baseUrl: string): MessagePart {
  return part.type === 'file' && attachedId(part) !== undefined && part.url.startsWith('/') ? { ...part, url: baseUrl + part.url } : part
}
