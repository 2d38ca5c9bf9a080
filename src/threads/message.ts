import type { ErrorCode } from '../errors.ts'
import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { MessagePart } from '../messages/parts.ts'

export const messageStatuses = ['streaming', 'suspended', 'completed', 'stopped', 'failed', 'interrupted'] as const
/** User messages are always `completed`. */
export type MessageStatus = typeof messageStatuses[number]

export interface Rating { readonly rating: 1 | -1, readonly comment?: string }

/** One stored entry of a thread: a node of its tree. */
export interface Message {
  /** The row's own id, unique in the thread. */
  readonly id: string
  /** The id the client knows it by, where that differs: an edited message keeps its client's id. */
  readonly clientId: string | undefined
  readonly parentId: string | undefined
  /** Order inside the thread, from 1: a counter, never the clock. */
  readonly position: number
  readonly role: 'user' | 'assistant'
  readonly parts: readonly MessagePart[]
  readonly status: MessageStatus
  readonly runId: string | undefined
  readonly model: string | undefined
  readonly finishReason: FinishReason | undefined
  readonly usage: Usage | undefined
  readonly costUsd: number | undefined
  /** How long it took to make it, without the time it waited for somebody; while it is streaming, as of its last save. */
  readonly processingMs: number | undefined
  readonly errorCode: ErrorCode | undefined
  readonly errorRef: string | undefined
  readonly startedAt: Date | undefined
  readonly completedAt: Date | undefined
  readonly createdAt: Date
  readonly deletedAt: Date | undefined
}

/** What of a message its readers are shown. */
export type ShownMessage = Pick<Message, 'id' | 'clientId' | 'position' | 'role' | 'parts' | 'status' | 'runId' | 'model' | 'finishReason' | 'usage' | 'costUsd' | 'processingMs' | 'createdAt'>

/** A message as history shows it: with the asking user's rating and the number of branches at this point (itself included). */
export interface MessageView extends ShownMessage {
  readonly rating: Rating | undefined
  readonly siblings: number
  /** Among branches: the newest message of this one, which as the thread's head shows it. */
  readonly branchHeadId?: string | undefined
}
