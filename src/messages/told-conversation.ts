import type { ModelMessage } from '../models/model.ts'
import type { MessagePart } from './parts.ts'

/** A conversation as its client tells it, where nothing of it is stored. */
export interface ToldConversation {
  readonly messages: readonly ModelMessage[]
  /** The answer that goes on, now that the client has answered its calls. */
  readonly continues?: { readonly messageId: string, readonly parts: readonly MessagePart[] } | undefined
}
