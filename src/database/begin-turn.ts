import { join, sqltag as sql } from '@prisma/client/runtime/client'
import { ownerOf, type Principal } from '../auth/principal.ts'
import { AppError, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { textOf } from '../messages/parts.ts'
import type { NewMessage, TurnPlan, TurnStore } from '../runs/turn-store.ts'
import type { StoreContext } from './client.ts'
import type { Executor } from './executor.ts'
import { isUniqueViolation, retrying, WriteConflict } from './failures.ts'
import type { ThreadRow } from './rows.ts'
import { searchable } from './text.ts'
import { titleColumns } from './thread-list-store.ts'
import { readTurnView } from './turn-view.ts'

const messageId = { fields: ['threadKey', 'id'], index: 'Message_pkey' }

/** The thread as far as a plan writes to it. */
type PlannedThread = Pick<ThreadRow, 'key' | 'lastPosition' | 'headId'> & { readonly isNew: boolean }

export function createBeginTurn ({ driver, dialect }: StoreContext): TurnStore['begin'] {
  return (principal, threadId, query, decide) => retrying(() => driver.transaction(async (tx) => {
    const { view, row } = await readTurnView(tx, dialect, principal, threadId, query)
    const plan = decide(view)
    if (!writes(plan)) return plan.result
    const thread = row === undefined ? await createThread(tx, principal, threadId, plan) : { ...row, isNew: false }
    await writePlan(tx, thread, plan)
    return plan.result
  }))
}

function writes ({ createThread, messages, continueMessage, endRun, decisions = [], run }: TurnPlan<unknown>): boolean {
  return createThread !== undefined || decisions.length > 0 || messages.length > 0 || continueMessage !== undefined || endRun !== undefined || run !== undefined
}

/** With all its counters as they are after the plan: a new thread costs one statement. */
async function createThread (tx: Executor, principal: Principal, id: string, { createThread, messages }: TurnPlan<unknown>): Promise<PlannedThread> {
  const { tenantId, userId } = principal
  // The thread of another, which is gone since: nobody makes one for them.
  if (createThread === undefined || ownerOf(principal) !== userId) throw notFound('thread')
  const key = newId()
  const now = new Date()
  const { title, titleSearch } = titleColumns(createThread.title ?? null)
  const headId = messages.at(-1)?.id ?? null
  await tx.execute(sql`INSERT INTO "Thread" (key, id, "tenantId", "ownerId", "agentId", title, "titleSearch", metadata, archived, "headId",
    "lastPosition", "messageCount", "createdAt", "updatedAt", "lastMessageAt", "activeAt")
    VALUES (${key}, ${id}, ${tenantId}, ${userId}, ${createThread.agentId}, ${title}, ${titleSearch}, ${JSON.stringify(createThread.metadata ?? {})}, ${false}, ${headId},
    ${messages.length}, ${messages.length}, ${now}, ${now}, ${messages.length > 0 ? now : null}, ${now})`)
  return { key, lastPosition: 0, headId, isNew: true }
}

async function writePlan (tx: Executor, thread: PlannedThread, plan: TurnPlan<unknown>): Promise<void> {
  const now = new Date()
  for (const decision of plan.decisions ?? []) await decide(tx, thread, decision, now)
  if (plan.endRun !== undefined) await endRun(tx, thread, plan.endRun, now)
  if (plan.continueMessage !== undefined) await continueMessage(tx, thread, plan, plan.continueMessage)
  if (plan.messages.length > 0) await insertMessages(tx, thread, plan, now)
  if (plan.run !== undefined) await insertRun(tx, thread, plan.run, now)
  if (!thread.isNew) await touchThread(tx, thread, plan.messages, now)
}

/** An approval is decided once: whoever comes second decides on what is there then. */
async function decide (tx: Executor, { key }: PlannedThread, { approvalId, status, reason }: NonNullable<TurnPlan<unknown>['decisions']>[number], now: Date): Promise<void> {
  const decided = await tx.execute(sql`UPDATE "Approval" SET status = ${status}, reason = ${reason ?? null}, "decidedAt" = ${now}
    WHERE id = ${approvalId} AND "threadKey" = ${key} AND status = 'pending'`)
  if (decided === 0) throw new WriteConflict('The approval was decided meanwhile')
}

async function endRun (tx: Executor, { key }: PlannedThread, { id, messageId, parts, status, approvals }: NonNullable<TurnPlan<unknown>['endRun']>, now: Date): Promise<void> {
  if (approvals !== undefined) await tx.execute(sql`UPDATE "Approval" SET status = ${approvals}, "decidedAt" = ${now} WHERE "runId" = ${id} AND status = 'pending'`)
  const ended = await tx.execute(sql`UPDATE "Run" SET status = ${status}, "activeThreadKey" = NULL, checkpoint = NULL, "endedAt" = ${now}
    WHERE id = ${id} AND "threadKey" = ${key} AND status = 'suspended'`)
  if (ended === 0) throw new WriteConflict('The suspended run ended meanwhile')
  const kept = parts === undefined ? sql`parts = parts` : sql`parts = ${JSON.stringify(parts)}, "searchText" = ${searchable(textOf(parts))}`
  await tx.execute(sql`UPDATE "Message" SET status = ${status}, "completedAt" = ${now}, ${kept} WHERE "threadKey" = ${key} AND id = ${messageId}`)
}

async function continueMessage (tx: Executor, { key }: PlannedThread, { run }: TurnPlan<unknown>, { id, parts, status }: NonNullable<TurnPlan<unknown>['continueMessage']>): Promise<void> {
  const ofRun = run === undefined ? sql`"runId" = "runId"` : sql`"runId" = ${run.id}`
  await tx.execute(sql`UPDATE "Message" SET status = ${status}, "completedAt" = NULL, parts = ${JSON.stringify(parts)}, ${ofRun} WHERE "threadKey" = ${key} AND id = ${id}`)
}

async function insertMessages (tx: Executor, { key, lastPosition }: PlannedThread, { messages, run }: TurnPlan<unknown>, now: Date): Promise<void> {
  const rows = messages.map((message, index) => {
    const { id, clientId, parentId, role, parts, status, model } = message
    const isAnswer = run !== undefined && id === run.messageId
    return sql`(${key}, ${id}, ${clientId ?? null}, ${parentId ?? null}, ${lastPosition + index + 1}, ${role}, ${JSON.stringify(parts)}, ${status},
      ${searchTextOf(message)}, ${isAnswer ? run.id : null}, ${model ?? null}, ${isAnswer ? now : null}, ${now})`
  })
  try {
    await tx.execute(sql`INSERT INTO "Message" ("threadKey", id, "clientId", "parentId", position, role, parts, status, "searchText", "runId", model, "startedAt", "createdAt") VALUES ${join(rows)}`)
  } catch (error) {
    if (isUniqueViolation(error, messageId)) throw new AppError('conflict', 'The thread already has a message with this id.', { cause: error })
    throw error
  }
}

// An answer that has begun is found once it is finished.
function searchTextOf ({ status, parts }: NewMessage): string {
  return status === 'streaming' ? '' : searchable(textOf(parts))
}

async function insertRun (tx: Executor, { key }: PlannedThread, { id, messageId, agentId, holder, leaseUntil }: NonNullable<TurnPlan<unknown>['run']>, now: Date): Promise<void> {
  await tx.execute(sql`INSERT INTO "Run" (id, "threadKey", "messageId", "agentId", status, "activeThreadKey", holder, "leaseUntil", "createdAt")
    VALUES (${id}, ${key}, ${messageId}, ${agentId}, 'running', ${key}, ${holder}, ${leaseUntil}, ${now})`)
}

async function touchThread (tx: Executor, { key, lastPosition, headId }: PlannedThread, messages: readonly NewMessage[], now: Date): Promise<void> {
  await tx.execute(sql`UPDATE "Thread" SET "headId" = ${messages.at(-1)?.id ?? headId}, "lastPosition" = ${lastPosition + messages.length},
    "messageCount" = "messageCount" + ${messages.length}, "updatedAt" = ${now}, "lastMessageAt" = ${now}, "activeAt" = ${now} WHERE key = ${key}`)
}
