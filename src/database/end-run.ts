import { join, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { newId } from '../ids.ts'
import { inputHash } from '../approvals/approval.ts'
import { textOf, type MessagePart } from '../messages/parts.ts'
import type { Checkpoint, TurnEnd, TurnStore } from '../runs/turn-store.ts'
import { insertArtifacts } from './artifact-rows.ts'
import type { StoreContext } from './client.ts'
import type { Executor } from './executor.ts'
import { retrying } from './failures.ts'
import { searchable } from './text.ts'

/** The run is no longer the caller's: undoes the transaction. */
class StaleRun extends Error {}

// Four arguments a run, far below what one statement may have.
const maxCheckpointsPerStatement = 1_024

const noCheckpoint = sql`(${null}, ${null}, ${null}, ${null})`

export function createEndOfRun ({ driver }: StoreContext): Pick<TurnStore, 'checkpoint' | 'finish' | 'interrupt'> {
  function ending (work: (tx: Executor) => Promise<void>): Promise<boolean> {
    return retrying(() => driver.transaction(work)).then(() => true, (error: unknown) => {
      if (error instanceof StaleRun) return false
      throw error
    })
  }

  return {
    checkpoint: async (holder, checkpoints) => {
      const saved = new Set<string>()
      await driver.transaction(async (tx) => {
        for (let start = 0; start < checkpoints.length; start += maxCheckpointsPerStatement) {
          const rows = await saveParts(tx, holder, checkpoints.slice(start, start + maxCheckpointsPerStatement))
          for (const { runId } of rows) saved.add(runId)
        }
      })
      return checkpoints.flatMap(({ runId }) => saved.has(runId) ? [] : [runId])
    },

    finish: (holder, end) => ending(async (tx) => {
      const now = new Date()
      const threadKey = await touchThreadOf(tx, end.runId, holder, now)
      await closeRun(tx, { threadKey, holder, end, now })
      if (end.discardMessage) await discardMessage(tx, threadKey, end.messageId)
      else await completeMessage(tx, threadKey, end, now)
      if (end.usageRecords.length > 0) await insertUsage(tx, threadKey, end, now)
      if (end.suspension !== undefined && end.suspension.approvals.length > 0) await insertApprovals(tx, threadKey, end, now)
    }),

    interrupt: (run, { parts, errorRef }) => ending(async (tx) => {
      const now = new Date()
      const threadKey = await touchThreadOf(tx, run.id, run.holder, now)
      const ended = await tx.execute(sql`UPDATE "Run" SET status = 'interrupted', "activeThreadKey" = NULL, "endedAt" = ${now}, "errorRef" = ${errorRef}
        WHERE id = ${run.id} AND holder = ${run.holder} AND "leaseUntil" = ${run.leaseUntil} AND status = 'running'`)
      if (ended === 0) throw new StaleRun()
      await tx.execute(sql`UPDATE "Message" SET status = 'interrupted', ${partsColumns(parts)}, "errorRef" = ${errorRef}, "completedAt" = ${now}
        WHERE "threadKey" = ${threadKey} AND id = ${run.messageId}`)
      await insertArtifacts(tx, { threadKey, messageId: run.messageId, runId: run.id }, parts, now)
    })
  }
}

/**
 * One statement for all runs of a process; a message whose run is not the holder's any more does not match. Its own status
 * is asked too: where the statement waits for the transaction that ends the run, PostgreSQL looks at the message again,
 * but not at the run.
 */
function saveParts (tx: Executor, holder: string, checkpoints: readonly Checkpoint[]): Promise<{ runId: string }[]> {
  if (checkpoints.length === 0) return Promise.resolve([])
  const rows = toPowerOfTwo(checkpoints.map(({ runId, messageId, parts, processingMs }) => sql`(${runId}, ${messageId}, ${JSON.stringify(parts)}, ${processingMs})`))
  return tx.query<{ runId: string }>(sql`UPDATE "Message" SET parts = saved.column3, "processingMs" = CAST(saved.column4 AS INTEGER)
    FROM (VALUES ${join(rows)}) AS saved JOIN "Run" r ON r.id = saved.column1
    WHERE r.holder = ${holder} AND r.status = 'running' AND "Message"."threadKey" = r."threadKey" AND "Message".id = saved.column2 AND "Message"."runId" = r.id
      AND "Message".status = 'streaming'
    RETURNING "Message"."runId"`)
}

/** Filled up with rows that match nothing: a statement for every number of runs would never be prepared when it is needed. */
function toPowerOfTwo (rows: readonly Sql[]): Sql[] {
  const length = 2 ** Math.ceil(Math.log2(rows.length))
  return [...rows, ...Array.from({ length: length - rows.length }, () => noCheckpoint)]
}

/** First of all writes, because whoever removes a thread locks it first too: the other order would be a deadlock. */
async function touchThreadOf (tx: Executor, runId: string, holder: string, now: Date): Promise<string> {
  const [row] = await tx.query<{ key: string }>(sql`UPDATE "Thread" SET "updatedAt" = ${now}, "lastMessageAt" = ${now}, "activeAt" = ${now}
    WHERE key = (SELECT r."threadKey" FROM "Run" r WHERE r.id = ${runId} AND r.holder = ${holder} AND r.status = 'running') RETURNING key`)
  if (row === undefined) throw new StaleRun()
  return row.key
}

async function closeRun (tx: Executor, { threadKey, holder, end, now }: { threadKey: string, holder: string, end: TurnEnd, now: Date }): Promise<void> {
  const suspended = end.runStatus === 'suspended'
  const closed = await tx.execute(sql`UPDATE "Run" SET status = ${end.runStatus}, "activeThreadKey" = ${suspended ? threadKey : null}, "endedAt" = ${suspended ? null : now},
    checkpoint = ${end.suspension === undefined ? null : JSON.stringify(end.suspension.checkpoint)},
    "errorCode" = ${end.errorCode ?? null}, "errorRef" = ${end.errorRef ?? null} WHERE id = ${end.runId} AND holder = ${holder} AND status = 'running'`)
  if (closed === 0) throw new StaleRun()
}

async function completeMessage (tx: Executor, threadKey: string, end: TurnEnd, now: Date): Promise<void> {
  await tx.execute(sql`UPDATE "Message" SET status = ${end.messageStatus}, ${partsColumns(end.parts)}, "finishReason" = ${end.finishReason ?? null},
    usage = ${JSON.stringify(end.usage)}, "costUsd" = ${end.costUsd ?? null}, "processingMs" = ${end.processingMs ?? null},
    "errorCode" = ${end.errorCode ?? null}, "errorRef" = ${end.errorRef ?? null}, "completedAt" = ${now}
    WHERE "threadKey" = ${threadKey} AND id = ${end.messageId}`)
  await insertArtifacts(tx, { threadKey, ...end }, end.parts, now)
}

async function discardMessage (tx: Executor, threadKey: string, messageId: string): Promise<void> {
  const [row] = await tx.query<{ parentId: string | null, deletedAt: Date | null }>(sql`DELETE FROM "Message"
    WHERE "threadKey" = ${threadKey} AND id = ${messageId} RETURNING "parentId", "deletedAt"`)
  if (row === undefined) return
  const counted = row.deletedAt === null ? 1 : 0
  await tx.execute(sql`UPDATE "Thread" SET "messageCount" = "messageCount" - ${counted}, "headId" = CASE WHEN "headId" = ${messageId} THEN ${row.parentId} ELSE "headId" END WHERE key = ${threadKey}`)
}

async function insertUsage (tx: Executor, threadKey: string, { runId, usageRecords }: TurnEnd, now: Date): Promise<void> {
  const rows = usageRecords.map(({ agentPath, model, usage, costUsd, estimated }) => sql`(${newId()}, ${threadKey}, ${runId}, ${agentPath}, ${model},
    ${usage.input}, ${usage.output}, ${usage.reasoning}, ${usage.cachedRead}, ${usage.cacheWrite}, ${costUsd ?? null}, ${estimated}, ${now})`)
  await tx.execute(sql`INSERT INTO "Usage" (id, "threadKey", "runId", "agentPath", model, input, output, reasoning, "cachedRead", "cacheWrite", "costUsd", estimated, "createdAt") VALUES ${join(rows)}`)
}

async function insertApprovals (tx: Executor, threadKey: string, { runId, messageId, suspension }: TurnEnd, now: Date): Promise<void> {
  const rows = (suspension?.approvals ?? []).map(({ id, callId, agentPath, toolName, input, expiresAt }) => sql`(${id}, ${threadKey}, ${runId}, ${messageId}, ${callId},
    ${JSON.stringify(agentPath)}, ${toolName}, ${JSON.stringify(input)}, ${inputHash(input)}, 'pending', ${expiresAt}, ${now})`)
  await tx.execute(sql`INSERT INTO "Approval" (id, "threadKey", "runId", "messageId", "callId", "agentPath", "toolName", input, "inputHash", status, "expiresAt", "createdAt") VALUES ${join(rows)}`)
}

function partsColumns (parts: readonly MessagePart[]) {
  return sql`parts = ${JSON.stringify(parts)}, "searchText" = ${searchable(textOf(parts))}`
}
