import type { MessagePart } from './parts.ts'

/** What a client did at the end of its tool call. */
export type ToolOutput =
  | { readonly callId: string, readonly output: unknown }
  | { readonly callId: string, readonly errorText: string }

/** What a user asks of a thread, whatever wire it came by. Ids are the client's. */
export type TurnRequest =
  /** A new message; with `replaces`, an edit that makes a sibling of that message. */
  | { readonly kind: 'message', readonly id?: string, readonly parts: readonly MessagePart[], readonly replaces?: string }
  /**
   * Results of client tools, of the newest answer where no message is named. Results of other calls may be among them:
   * only calls that wait for one count.
   */
  | { readonly kind: 'tool-outputs', readonly messageId?: string, readonly outputs: readonly ToolOutput[] }
  /**
   * Another answer. `messageId` is the answer to replace or the question to answer again, absent for the newest;
   * `fallbackId` is the newest message the client kept, for an answer the service does not know by the client's id.
   */
  | { readonly kind: 'regenerate', readonly messageId?: string, readonly fallbackId?: string }
