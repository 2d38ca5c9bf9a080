import { empty, join, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { StoredFile } from '../files/file.ts'
import type { FileStore, Insertion, NewFile } from '../files/file-store.ts'
import type { StoreContext } from './client.ts'
import { decodeCursor, encodeCursor, placeId, placeTime } from './cursor.ts'
import { createFileJobStore } from './file-job-store.ts'
import { fileColumns, toFile, type FileRow } from './file-rows.ts'
import { anyOwnedBy, findKey, lockKey, ownedBy } from './owned-thread.ts'
import { storable } from './text.ts'

// When the file came, in milliseconds, and its id.
const place = z.tuple([placeTime, placeId])

export function createFileStore (context: StoreContext): FileStore {
  const { driver, dialect } = context

  const findMany = async (principal: Principal, threadId: string, fileIds: readonly string[]): Promise<readonly StoredFile[]> => {
    if (fileIds.length === 0) return []
    const rows = await driver.query<FileRow>(sql`SELECT ${fileColumns} FROM "File" f JOIN "Thread" t ON t.key = f."threadKey"
      WHERE ${ownedBy(principal, threadId)} AND f.id IN (${join([...fileIds])})`)
    return rows.map(toFile)
  }
  const find = async (principal: Principal, threadId: string, fileId: string) => (await findMany(principal, threadId, [fileId]))[0]

  /** Changes a file that is in one of these states. */
  const change = async (principal: Principal, threadId: string, fileId: string, from: Sql, set: Sql): Promise<boolean> => {
    const changed = await driver.execute(sql`UPDATE "File" SET ${set}, "updatedAt" = ${new Date()}
      WHERE id = ${fileId} AND status IN (${from}) AND "threadKey" IN (SELECT t.key FROM "Thread" t WHERE ${ownedBy(principal, threadId)})`)
    return changed > 0
  }

  return {
    ...createFileJobStore(context),
    insert: (principal, threadId, file) => driver.transaction(async (tx): Promise<Insertion> => {
      const thread = await lockKey(tx, dialect, principal, threadId)
      if (thread === undefined) return { kind: 'no-thread' }
      const [existing] = await tx.query<{ id: string }>(sql`SELECT id FROM "File" WHERE "threadKey" = ${thread.key} AND sha256 = ${file.sha256}`)
      if (existing !== undefined) return { kind: 'duplicate', existingId: existing.id }
      const now = new Date()
      await tx.execute(insertion(thread.key, file, now))
      return { kind: 'stored', file: { ...file, name: storable(file.name), threadId, status: 'pending', step: undefined, error: undefined, facts: {}, createdAt: now, updatedAt: now } }
    }),
    find,
    findMany,
    list: async (principal, threadId, { limit, cursor }) => {
      const thread = await findKey(driver, principal, threadId)
      if (thread === undefined) return undefined
      const rows = await driver.query<FileRow>(sql`SELECT ${fileColumns} FROM "File" f JOIN "Thread" t ON t.key = f."threadKey"
        WHERE f."threadKey" = ${thread.key} ${after(cursor)} ORDER BY f."createdAt" DESC, f.id DESC LIMIT ${limit + 1}`)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit).map(toFile), nextCursor: last === undefined ? undefined : encodeCursor([last.createdAt.getTime(), last.id]) }
    },
    remove: async (principal, threadId, fileId) => {
      const file = await find(principal, threadId, fileId)
      if (file === undefined) return undefined
      return await driver.execute(sql`DELETE FROM "File" WHERE id = ${fileId}`) > 0 ? file : undefined
    },
    keysOf: async (principal, threadId) => {
      const owned = threadId === undefined ? anyOwnedBy(principal) : ownedBy(principal, threadId)
      const rows = await driver.query<{ storageKey: string }>(sql`SELECT f."storageKey" FROM "File" f JOIN "Thread" t ON t.key = f."threadKey" WHERE ${owned}`)
      return rows.map(({ storageKey }) => storageKey)
    },
    retry: (principal, threadId, fileId) => change(principal, threadId, fileId, sql`'failed', 'cancelled'`,
      sql`status = 'pending', attempts = 0, step = NULL, "errorCode" = NULL, "errorMessage" = NULL, "claimId" = NULL`),
    cancel: (principal, threadId, fileId) => change(principal, threadId, fileId, sql`'pending', 'processing'`, sql`status = 'cancelled', step = NULL, "claimId" = NULL`)
  }
}

function insertion (threadKey: string, { id, name, mediaType, kind, size, sha256, storageKey }: NewFile, now: Date): Sql {
  return sql`INSERT INTO "File" (id, "threadKey", name, "mediaType", kind, size, sha256, "storageKey", status, facts, attempts, "createdAt", "updatedAt")
    VALUES (${id}, ${threadKey}, ${storable(name)}, ${mediaType}, ${kind}, ${size}, ${sha256}, ${storageKey}, 'pending', '{}', 0, ${now}, ${now})`
}

function after (cursor: string | undefined): Sql {
  if (cursor === undefined) return empty
  const [createdAt, id] = decodeCursor(cursor, place, 'cursor')
  return sql`AND (f."createdAt", f.id) < (${new Date(createdAt)}, ${id})`
}
