import { empty, join, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import { AppError, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Thread, ThreadPatch, ThreadPlace, ThreadQuery, ThreadStore } from '../threads/thread-store.ts'
import type { Dialect, StoreContext } from './client.ts'
import { decodeCursor, encodeCursor, placeId, placeTime } from './cursor.ts'
import type { Executor } from './executor.ts'
import { isUniqueViolation } from './failures.ts'
import { anyOwnedBy, lockKey, ownedBy, ownedWhere } from './owned-thread.ts'
import { threadColumns, toThread, type ThreadRow } from './rows.ts'
import { searchable, storable } from './text.ts'

type ThreadListStore = Pick<ThreadStore, 'create' | 'get' | 'locate' | 'list' | 'update' | 'remove' | 'removeAll'>

// Threads of one id: two of others are one too many already.
const maxLocated = 10

// When the thread was last active, in milliseconds, and its key: unique, so threads of the same instant keep an order.
const place = z.tuple([placeTime, placeId])

export function createThreadListStore ({ client, driver, dialect }: StoreContext): ThreadListStore {
  return {
    create: async ({ tenantId, userId }, thread) => {
      const now = new Date()
      const { id, agentId, title, metadata = {} } = thread
      const owner = { tenantId, ownerId: userId }
      const times = { createdAt: now, updatedAt: now, activeAt: now }
      try {
        return toThread(await client.thread.create({ data: { key: newId(), id, ...owner, agentId, ...titleColumns(title ?? null), metadata: JSON.stringify(metadata), ...times } }))
      } catch (error) {
        if (isUniqueViolation(error)) throw new AppError('conflict', 'You already have a thread with this id.', { cause: error })
        throw error
      }
    },

    get: async (principal, threadId) => {
      const [row] = await driver.query<ThreadRow>(sql`SELECT ${threadColumns} FROM "Thread" t WHERE ${ownedBy(principal, threadId)}`)
      return row === undefined ? undefined : toThread(row)
    },

    locate: async (principal, place, of) => {
      const rows = await driver.query<ThreadRow>(sql`SELECT ${threadColumns} FROM "Thread" t ${joined(place)} WHERE ${reach(principal, of)} AND ${at(place)}
        ORDER BY CASE WHEN t."ownerId" = ${principal.userId} THEN 0 ELSE 1 END, t.key LIMIT ${maxLocated}`)
      return rows.map(toThread)
    },

    list: async (principal, query) => {
      const rows = await driver.query<ThreadRow>(sql`SELECT ${threadColumns} FROM "Thread" t
        WHERE ${reach(principal, query.of)} ${filters(dialect, query)}
        ORDER BY t."activeAt" DESC, t.key DESC LIMIT ${query.limit + 1}`)
      const last = rows.length > query.limit ? rows[query.limit - 1] : undefined
      return {
        items: rows.slice(0, query.limit).map(toThread),
        nextCursor: last === undefined ? undefined : encodeCursor([last.activeAt.getTime(), last.key])
      }
    },

    update: (principal, threadId, patch) => driver.transaction(async (tx) => {
      const thread = await lockKey(tx, dialect, principal, threadId)
      return thread === undefined ? undefined : patchThread(tx, thread.key, patch)
    }),

    remove: async (principal, threadId) => {
      const { count } = await client.thread.deleteMany({ where: ownedWhere(principal, threadId) })
      return count > 0
    },

    removeAll: async ({ tenantId, userId }) => {
      const { count } = await client.thread.deleteMany({ where: { tenantId, ownerId: userId } })
      return count
    }
  }
}

/** A title as it is shown and as it is found. */
export function titleColumns (title: string | null): { title: string | null, titleSearch: string } {
  return title === null ? { title, titleSearch: '' } : { title: storable(title), titleSearch: searchable(title) }
}

async function patchThread (tx: Executor, key: string, patch: ThreadPatch): Promise<Thread | undefined> {
  if (patch.headId !== undefined && !await hasMessage(tx, key, patch.headId)) throw notFound('message')
  await tx.execute(sql`UPDATE "Thread" SET ${join(patchedColumns(patch))} WHERE key = ${key}`)
  const [row] = await tx.query<ThreadRow>(sql`SELECT ${threadColumns} FROM "Thread" t WHERE t.key = ${key}`)
  return row === undefined ? undefined : toThread(row)
}

async function hasMessage (tx: Executor, threadKey: string, id: string): Promise<boolean> {
  return (await tx.query(sql`SELECT id FROM "Message" WHERE "threadKey" = ${threadKey} AND id = ${id} AND "deletedAt" IS NULL`)).length > 0
}

function patchedColumns ({ title, agentId, metadata, archived, headId }: ThreadPatch): Sql[] {
  const columns = [sql`"updatedAt" = ${new Date()}`]
  if (title !== undefined) {
    const { title: shown, titleSearch } = titleColumns(title)
    columns.push(sql`title = ${shown}, "titleSearch" = ${titleSearch}`)
  }
  if (agentId !== undefined) columns.push(sql`"agentId" = ${agentId}`)
  if (metadata !== undefined) columns.push(sql`metadata = ${JSON.stringify(metadata)}`)
  if (archived !== undefined) columns.push(sql`archived = ${archived}`)
  if (headId !== undefined) columns.push(sql`"headId" = ${headId}`)
  return columns
}

/** The principal's own threads, or those of everybody in the tenant; never more than that. */
function reach (principal: Principal, of: ThreadQuery['of'] = 'own'): Sql {
  return of === 'own' ? anyOwnedBy(principal) : sql`t."tenantId" = ${principal.tenantId}`
}

function joined (place: ThreadPlace): Sql {
  if ('threadId' in place) return empty
  return 'runId' in place ? sql`JOIN "Run" r ON r."threadKey" = t.key` : sql`JOIN "Approval" a ON a."threadKey" = t.key`
}

function at (place: ThreadPlace): Sql {
  if ('threadId' in place) return sql`t.id = ${place.threadId}`
  return 'runId' in place ? sql`r.id = ${place.runId}` : sql`a.id = ${place.approvalId}`
}

function filters (dialect: Dialect, { agentId, archived, cursor, q }: ThreadQuery): Sql {
  const ofAgent = agentId === undefined ? empty : sql`AND t."agentId" = ${agentId}`
  const inArchive = archived === undefined ? empty : sql`AND t.archived = ${archived}`
  return sql`${ofAgent} ${inArchive} ${matching(dialect, q)} ${after(cursor)}`
}

function matching (dialect: Dialect, q: string | undefined): Sql {
  const text = searchable(q ?? '')
  if (text === '') return empty
  return sql`AND (${dialect.contains(sql`t."titleSearch"`, text)} OR EXISTS (
    SELECT 1 FROM "Message" m WHERE m."threadKey" = t.key AND m."deletedAt" IS NULL AND ${dialect.contains(sql`m."searchText"`, text)}))`
}

function after (cursor: string | undefined): Sql {
  if (cursor === undefined) return empty
  const [activeAt, key] = decodeCursor(cursor, place, 'cursor')
  return sql`AND (t."activeAt", t.key) < (${new Date(activeAt)}, ${key})`
}
