import { sqltag as sql } from '@prisma/client/runtime/client'
import type { Executor } from './executor.ts'
import type { ThreadKey } from './owned-thread.ts'

export interface FoundMessage { readonly id: string, readonly parentId: string | null }

/**
 * The message of a thread that has this id, or that its client knows by it. An edited message keeps the client's id, so
 * several branches may have one: then it is the one on the branch on show, and the newest where none is.
 */
export async function lookUpMessage (executor: Executor, thread: ThreadKey, lookup: string): Promise<FoundMessage | undefined> {
  const rows = await executor.query<FoundMessage>(sql`SELECT m.id, m."parentId" FROM "Message" m
    WHERE m."threadKey" = ${thread.key} AND (m.id = ${lookup} OR m."clientId" = ${lookup}) ORDER BY m.position DESC`)
  const shown = rows.length > 1 ? await firstOnPath(executor, thread, rows.map(({ id }) => id)) : undefined
  return rows.find(({ id }) => id === shown) ?? rows[0]
}

/** Walks the whole branch, which is rare. */
async function firstOnPath (executor: Executor, thread: ThreadKey, ids: readonly string[]): Promise<string | undefined> {
  const rows = await executor.query<{ id: string }>(sql`WITH RECURSIVE path (id, "parentId") AS (
      SELECT m.id, m."parentId" FROM "Message" m WHERE m."threadKey" = ${thread.key} AND m.id = ${thread.headId}
      UNION ALL
      SELECT m.id, m."parentId" FROM path JOIN "Message" m ON m."threadKey" = ${thread.key} AND m.id = path."parentId"
    ) SELECT path.id FROM path`)
  return rows.find(({ id }) => ids.includes(id))?.id
}
