import type { MessagePart } from '../../messages/parts.ts'
import type { MessageView, Rating } from '../../threads/message.ts'
import type { MessageMetadata } from './metadata.ts'

/** A message as chat clients hold it. */
export interface UIMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly metadata: MessageMetadata & { readonly rating?: Rating, readonly siblings: number }
  readonly parts: readonly MessagePart[]
}

/** A stored message as history shows it: under the id its client knows it by. */
export function toUIMessage (view: MessageView, { threadId }: { threadId: string }): UIMessage {
  const { id, clientId, role, parts, status, finishReason, usage, costUsd, model, runId, createdAt, rating, siblings } = view
  const metadata = {
    createdAt: createdAt.toISOString(),
    status,
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(model === undefined ? {} : { model }),
    threadId,
    ...(runId === undefined ? {} : { runId }),
    ...(rating === undefined ? {} : { rating }),
    siblings
  }
  return { id: clientId ?? id, role, metadata, parts }
}
