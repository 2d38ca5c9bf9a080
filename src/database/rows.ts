import { raw, type Sql } from '@prisma/client/runtime/client'
import type { ErrorCode } from '../errors.ts'
import type { Approval, ApprovalStatus } from '../approvals/approval.ts'
import type { AgentPath, FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { Run, RunStatus } from '../runs/turn-store.ts'
import type { Message, MessageStatus, MessageView, ShownMessage } from '../threads/message.ts'
import type { Thread } from '../threads/thread-store.ts'
import type { Approval as ApprovalRow, Message as StoredMessage, Run as StoredRun, Thread as StoredThread } from './generated/sqlite/client.ts'

export type { ApprovalRow }
/** Without where a suspended run stopped, which is read only to go on there. */
export type RunRow = Omit<StoredRun, 'checkpoint'>
/** Without what only search reads, which is as long as the message itself. */
export type MessageRow = Omit<StoredMessage, 'searchText'>
export type ThreadRow = Omit<StoredThread, 'titleSearch'>

// By name, not `*`: a statement that PostgreSQL has prepared may not change its columns, and a newer version of the
// service adds some while this one runs.
export const threadColumns = columnsOf<ThreadRow>('t', ['key', 'id', 'tenantId', 'ownerId', 'agentId', 'title', 'metadata', 'archived', 'headId',
  'lastPosition', 'messageCount', 'createdAt', 'updatedAt', 'lastMessageAt', 'activeAt'])
export const messageColumns = columnsOf<MessageRow>('m', ['threadKey', 'id', 'clientId', 'parentId', 'position', 'role', 'parts', 'status', 'runId', 'model',
  'finishReason', 'usage', 'costUsd', 'processingMs', 'errorCode', 'errorRef', 'startedAt', 'completedAt', 'createdAt', 'deletedAt'])
// A page of history has no more columns than it shows: each costs on every row.
export const shownColumns = columnsOf<ShownRow>('m', ['id', 'clientId', 'position', 'role', 'parts', 'status', 'runId', 'model', 'finishReason', 'usage', 'costUsd', 'processingMs', 'createdAt'])
export const runColumns = columnsOf<RunRow>('r', ['id', 'threadKey', 'messageId', 'agentId', 'status', 'activeThreadKey', 'holder', 'leaseUntil', 'errorCode',
  'errorRef', 'createdAt', 'endedAt'])

type ShownRow = Pick<MessageRow, keyof ShownMessage>

export const approvalColumns = columnsOf<ApprovalRow>('a', ['id', 'threadKey', 'runId', 'messageId', 'callId', 'agentPath', 'toolName', 'input', 'inputHash', 'status',
  'reason', 'expiresAt', 'decidedAt', 'createdAt'])

export interface MessageViewRow extends ShownRow {
  readonly ratingValue: number | null
  readonly ratingComment: string | null
  readonly siblings: number
}

// Only we write these tables, so a text column holds what its type says; hence the `as` below.

export function toThread (row: ThreadRow): Thread {
  return {
    id: row.id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    title: row.title ?? undefined,
    metadata: JSON.parse(row.metadata) as Thread['metadata'],
    archived: row.archived,
    headId: row.headId ?? undefined,
    messageCount: row.messageCount,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastMessageAt: row.lastMessageAt ?? undefined
  }
}

export function toMessage (row: MessageRow): Message {
  return {
    ...toShown(row),
    parentId: row.parentId ?? undefined,
    errorCode: (row.errorCode ?? undefined) as ErrorCode | undefined,
    errorRef: row.errorRef ?? undefined,
    startedAt: row.startedAt ?? undefined,
    completedAt: row.completedAt ?? undefined,
    deletedAt: row.deletedAt ?? undefined
  }
}

export function toMessageView (row: MessageViewRow): MessageView {
  return { ...toShown(row), siblings: Number(row.siblings), rating: toRating(row) }
}

function toShown (row: ShownRow): ShownMessage {
  return {
    id: row.id,
    clientId: row.clientId ?? undefined,
    position: row.position,
    role: row.role as Message['role'],
    parts: JSON.parse(row.parts) as readonly MessagePart[],
    status: row.status as MessageStatus,
    runId: row.runId ?? undefined,
    model: row.model ?? undefined,
    finishReason: (row.finishReason ?? undefined) as FinishReason | undefined,
    usage: row.usage === null ? undefined : JSON.parse(row.usage) as Usage,
    costUsd: row.costUsd ?? undefined,
    processingMs: row.processingMs ?? undefined,
    createdAt: row.createdAt
  }
}

export function toApproval (row: ApprovalRow, threadId: string): Approval {
  return {
    id: row.id,
    threadId,
    runId: row.runId,
    messageId: row.messageId,
    callId: row.callId,
    agentPath: JSON.parse(row.agentPath) as AgentPath,
    toolName: row.toolName,
    input: JSON.parse(row.input) as unknown,
    inputHash: row.inputHash,
    status: row.status as ApprovalStatus,
    reason: row.reason ?? undefined,
    expiresAt: row.expiresAt,
    decidedAt: row.decidedAt ?? undefined,
    createdAt: row.createdAt
  }
}

export function toRun (row: RunRow, threadId: string): Run {
  return {
    id: row.id,
    threadId,
    messageId: row.messageId,
    agentId: row.agentId,
    status: row.status as RunStatus,
    holder: row.holder,
    leaseUntil: row.leaseUntil,
    createdAt: row.createdAt,
    endedAt: row.endedAt ?? undefined,
    errorCode: (row.errorCode ?? undefined) as ErrorCode | undefined
  }
}

function toRating ({ ratingValue, ratingComment }: MessageViewRow): MessageView['rating'] {
  if (ratingValue === null) return undefined
  return { rating: ratingValue as 1 | -1, ...(ratingComment === null ? {} : { comment: ratingComment }) }
}

function columnsOf<Row> (table: string, names: readonly (keyof Row & string)[]): Sql {
  return raw(names.map((name) => `${table}."${name}"`).join(', '))
}
