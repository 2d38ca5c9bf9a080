import type { MessagePart } from './parts.ts'

/** What a client did at the end of its tool call. */
export type ToolOutput =
  | { readonly callId: string, readonly output: unknown }
  | { readonly callId: string, readonly errorText: string }

/** What a client says of an approval. `input`, where it comes along, is what the person saw. */
export interface ClientVerdict {
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string | undefined
  readonly input?: unknown
}

/** What a user asks of a thread, whatever wire it came by. Ids are the client's. */
export type TurnRequest =
  /** A new message; with `replaces`, an edit that makes a sibling of that message. */
  | { readonly kind: 'message', readonly id?: string, readonly parts: readonly MessagePart[], readonly replaces?: string }
  /**
   * Results of client tools and verdicts on calls, for a message that waits; the newest answer where none is named. Others
   * may be among them: only what is waited for counts.
   */
  | { readonly kind: 'answers', readonly messageId?: string, readonly outputs: readonly ToolOutput[], readonly verdicts: readonly ClientVerdict[] }
  /**
   * Another answer. `messageId` is the answer to replace or the question to answer again, absent for the newest;
   * `fallbackId` is the newest message the client kept, for an answer the service does not know by the client's id.
   */
  | { readonly kind: 'regenerate', readonly messageId?: string, readonly fallbackId?: string }
