import { empty, join, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { ThreadStore } from '../threads/thread-store.ts'
import type { StoreContext } from './client.ts'
import { badCursor, decodeCursor, encodeCursor, placeId, placeNumber } from './cursor.ts'
import type { Executor } from './executor.ts'
import { lookUpMessage } from './message-lookup.ts'
import { findKey, lockKey } from './owned-thread.ts'
import { finished, pathTable, undeleted } from './path.ts'
import { shownColumns, toMessageView, type MessageViewRow } from './rows.ts'

type HistoryStore = Pick<ThreadStore, 'history' | 'siblings' | 'removeMessage' | 'restoreMessage'>

// History: the id of the newest message of the older page. It stays where it is, whatever is added or deleted.
const pathPlace = z.tuple([placeId])
const positionPlace = z.tuple([placeNumber])

// Two counts: one condition for both cases would keep PostgreSQL from the index.
const branches = sql`FROM "Message" s WHERE s."threadKey" = m."threadKey" AND s."deletedAt" IS NULL AND (s.status <> 'streaming' OR s.id = m.id)`
const viewColumns = sql`${shownColumns}, r.value AS "ratingValue", r.comment AS "ratingComment", CASE WHEN m."parentId" IS NULL
  THEN (SELECT count(*) ${branches} AND s."parentId" IS NULL)
  ELSE (SELECT count(*) ${branches} AND s."parentId" = m."parentId") END AS siblings`

export function createHistoryStore ({ driver, dialect }: StoreContext): HistoryStore {
  return {
    history: async (principal, threadId, { limit, before, includeStreaming = false }) => {
      const thread = await findKey(driver, principal, threadId)
      if (thread === undefined) return undefined
      const from = before === undefined ? thread.headId : decodeCursor(before, pathPlace, 'before')[0]
      if (from === null) return { items: [], nextCursor: undefined }
      const range = { threadKey: thread.key, from, limit: limit + 1, visible: includeStreaming ? undeleted : finished }
      const rows = await driver.query<MessageViewRow>(sql`${pathTable(range)}
        SELECT ${viewColumns} FROM path CROSS JOIN "Message" m ${ratingOf(principal)}
        WHERE m."threadKey" = ${thread.key} AND m.id = path.id AND path.visible = 1 ORDER BY m.position`)
      // A place on a path always shows at least the message it names, unless that one was deleted since.
      if (rows.length === 0 && before !== undefined && !await exists(driver, thread.key, from)) throw badCursor('before')
      const older = rows.length > limit ? rows[0] : undefined
      return {
        items: rows.slice(older === undefined ? 0 : 1).map(toMessageView),
        nextCursor: older === undefined ? undefined : encodeCursor([older.id])
      }
    },

    siblings: async (principal, threadId, messageId, { limit, cursor }) => {
      const thread = await findKey(driver, principal, threadId)
      const message = thread === undefined ? undefined : await lookUpMessage(driver, thread, messageId)
      if (thread === undefined || message === undefined) return undefined
      const rows = await driver.query<MessageViewRow>(sql`SELECT ${viewColumns} FROM "Message" m ${ratingOf(principal)}
        WHERE m."threadKey" = ${thread.key} AND ${childOf(message.parentId)} AND ${finished} ${afterPosition(cursor)}
        ORDER BY m.position LIMIT ${limit + 1}`)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      const page = rows.slice(0, limit)
      const heads = await branchHeads(driver, thread.key, page.map(({ id }) => id))
      return {
        items: page.map((row) => ({ ...toMessageView(row), branchHeadId: heads.get(row.id) })),
        nextCursor: last === undefined ? undefined : encodeCursor([last.position])
      }
    },

    removeMessage: (principal, threadId, messageId) => driver.transaction(async (tx) => {
      const thread = await lockKey(tx, dialect, principal, threadId)
      const message = thread === undefined ? undefined : await lookUpMessage(tx, thread, messageId)
      if (thread === undefined || message === undefined) return false
      const removed = await tx.execute(sql`UPDATE "Message" SET "deletedAt" = ${new Date()} WHERE "threadKey" = ${thread.key} AND id = ${message.id} AND "deletedAt" IS NULL`)
      await countMessages(tx, thread.key, -removed)
      return true
    }),

    restoreMessage: (principal, threadId, messageId) => driver.transaction(async (tx) => {
      const thread = await lockKey(tx, dialect, principal, threadId)
      const message = thread === undefined ? undefined : await lookUpMessage(tx, thread, messageId)
      if (thread === undefined || message === undefined) return undefined
      const restored = await tx.execute(sql`UPDATE "Message" SET "deletedAt" = NULL WHERE "threadKey" = ${thread.key} AND id = ${message.id} AND "deletedAt" IS NOT NULL`)
      await countMessages(tx, thread.key, restored)
      const [row] = await tx.query<MessageViewRow>(sql`SELECT ${viewColumns} FROM "Message" m ${ratingOf(principal)} WHERE m."threadKey" = ${thread.key} AND m.id = ${message.id}`)
      return row === undefined ? undefined : toMessageView(row)
    })
  }
}

/** The newest message of each branch that begins with one of these. */
async function branchHeads (driver: Executor, threadKey: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await driver.query<{ root: string, id: string }>(sql`WITH RECURSIVE branch (root, id, position) AS (
      SELECT m.id, m.id, m.position FROM "Message" m WHERE m."threadKey" = ${threadKey} AND m.id IN (${join(ids)})
      UNION ALL
      SELECT branch.root, m.id, m.position FROM branch JOIN "Message" m ON m."threadKey" = ${threadKey} AND m."parentId" = branch.id
    ) SELECT newest.root, m.id FROM (SELECT root, max(position) AS position FROM branch GROUP BY root) newest
    JOIN "Message" m ON m."threadKey" = ${threadKey} AND m.position = newest.position`)
  return new Map(rows.map(({ root, id }) => [root, id]))
}

function ratingOf ({ tenantId, userId }: Principal): Sql {
  return sql`LEFT JOIN "Rating" r ON r."threadKey" = m."threadKey" AND r."messageId" = m.id AND r."tenantId" = ${tenantId} AND r."userId" = ${userId}`
}

function childOf (parentId: string | null): Sql {
  return parentId === null ? sql`m."parentId" IS NULL` : sql`m."parentId" = ${parentId}`
}

function afterPosition (cursor: string | undefined): Sql {
  return cursor === undefined ? empty : sql`AND m.position > ${decodeCursor(cursor, positionPlace, 'cursor')[0]}`
}

async function exists (executor: Executor, threadKey: string, id: string): Promise<boolean> {
  return (await executor.query(sql`SELECT id FROM "Message" WHERE "threadKey" = ${threadKey} AND id = ${id}`)).length > 0
}

async function countMessages (tx: Executor, key: string, by: number): Promise<void> {
  if (by !== 0) await tx.execute(sql`UPDATE "Thread" SET "messageCount" = "messageCount" + ${by}, "updatedAt" = ${new Date()} WHERE key = ${key}`)
}
