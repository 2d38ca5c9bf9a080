import type { Principal } from '../auth/principal.ts'
import type { Usage } from '../events/usage.ts'
import type { MessageView, Rating } from './message.ts'

export interface Thread {
  /** Chosen by the client or made here; unique per owner, not globally. */
  readonly id: string
  readonly ownerId: string
  readonly agentId: string
  readonly title: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  readonly archived: boolean
  readonly headId: string | undefined
  readonly messageCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly lastMessageAt: Date | undefined
}

export interface Page<T> { readonly items: readonly T[], readonly nextCursor: string | undefined }

/** Where a thread is known from: its own id, or that of a run or an approval in it. */
export type ThreadPlace = { readonly threadId: string } | { readonly runId: string } | { readonly approvalId: string }

export interface ThreadQuery {
  /** Whose: the principal's own when absent, or everybody's of their tenant. */
  readonly of?: 'own' | 'all' | undefined
  readonly limit: number
  readonly cursor?: string | undefined
  readonly agentId?: string | undefined
  /** Found in titles and message text, case-insensitively beyond ASCII, the same on every database. */
  readonly q?: string | undefined
  readonly archived?: boolean | undefined
}

export interface ThreadPatch {
  readonly title?: string | null | undefined
  readonly agentId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly archived?: boolean | undefined
  /** Must be an undeleted message of the thread; not_found otherwise. */
  readonly headId?: string | undefined
}

export interface HistoryQuery {
  readonly limit: number
  /** An opaque cursor of an earlier page: the page ends just before it. */
  readonly before?: string | undefined
  /** Shows the message of a running run too. Left out by default. */
  readonly includeStreaming?: boolean | undefined
}

/** `costUsd` is absent where the price of one of the calls was not known. */
export interface UsageLine { readonly model: string, readonly agentPath: string, readonly calls: number, readonly usage: Usage, readonly costUsd: number | undefined, readonly estimated: boolean }

/**
 * Threads and their messages, of one owner at a time: the principal, or whom its `ownerId` names. What is not theirs is answered as if it did not exist:
 * `undefined` or `false`, never an error. A malformed cursor is invalid_request naming the field. A database that
 * cannot be reached is storage_unavailable.
 */
export interface ThreadStore {
  /** `conflict` when the owner already has a thread with this id. */
  create: (principal: Principal, thread: { id: string, agentId: string, title?: string | undefined, metadata?: Readonly<Record<string, unknown>> | undefined }) => Promise<Thread>
  get: (principal: Principal, threadId: string) => Promise<Thread | undefined>
  /** The threads at a place, the principal's own first: of the principal, or of everybody in their tenant. */
  locate: (principal: Principal, place: ThreadPlace, of: 'own' | 'all') => Promise<readonly Thread[]>
  /** Newest activity first. */
  list: (principal: Principal, query: ThreadQuery) => Promise<Page<Thread>>
  update: (principal: Principal, threadId: string, patch: ThreadPatch) => Promise<Thread | undefined>
  /** Removes the thread and all that hangs on it. */
  remove: (principal: Principal, threadId: string) => Promise<boolean>
  removeAll: (principal: Principal) => Promise<number>

  /** The newest page of the path from the root to the head, in ascending order; `nextCursor` leads to older ones. */
  history: (principal: Principal, threadId: string, query: HistoryQuery) => Promise<Page<MessageView> | undefined>
  /** The branches at a message: all children of its parent, in order of creation. */
  siblings: (principal: Principal, threadId: string, messageId: string, query: { limit: number, cursor?: string | undefined }) => Promise<Page<MessageView> | undefined>
  /** Soft delete and its undo; a deleted message is out of history and of the model's context. Idempotent. */
  removeMessage: (principal: Principal, threadId: string, messageId: string) => Promise<boolean>
  restoreMessage: (principal: Principal, threadId: string, messageId: string) => Promise<MessageView | undefined>

  /** One rating per user and message; the last one wins. False when there is no such assistant message. */
  rate: (principal: Principal, threadId: string, messageId: string, rating: Rating) => Promise<boolean>
  unrate: (principal: Principal, threadId: string, messageId: string) => Promise<boolean>

  /** Sums of every model call made in the thread, per agent path and model. */
  usage: (principal: Principal, threadId: string) => Promise<readonly UsageLine[] | undefined>
}
