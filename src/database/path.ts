import { sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { messageColumns, toMessage, type MessageRow } from './rows.ts'
import type { Executor } from './executor.ts'
import type { Message } from '../threads/message.ts'

/** Which messages of a path count, by the columns of `m`. Hidden ones are passed through on the way to the root. */
export const undeleted = sql`m."deletedAt" IS NULL`
export const finished = sql`m."deletedAt" IS NULL AND m.status <> 'streaming'`

export interface PathRange {
  readonly threadKey: string
  /** The newest message of the path. */
  readonly from: string
  readonly limit: number
  readonly visible: Sql
}

/**
 * The ids of the newest visible messages from one message towards the root, as table expression `path`: walks up the
 * parents and stops at the limit, so its cost does not depend on how long the thread is. Follow it with a SELECT from
 * `path CROSS JOIN "Message" m`: of an inner join SQLite would read the whole thread first, for the order.
 */
export function pathTable ({ threadKey, from, limit, visible }: PathRange): Sql {
  return sql`WITH RECURSIVE path (id, "parentId", visible, seen) AS (
    SELECT m.id, m."parentId", CASE WHEN ${visible} THEN 1 ELSE 0 END, CASE WHEN ${visible} THEN 1 ELSE 0 END
    FROM "Message" m WHERE m."threadKey" = ${threadKey} AND m.id = ${from}
    UNION ALL
    SELECT m.id, m."parentId", CASE WHEN ${visible} THEN 1 ELSE 0 END, path.seen + CASE WHEN ${visible} THEN 1 ELSE 0 END
    FROM path JOIN "Message" m ON m."threadKey" = ${threadKey} AND m.id = path."parentId"
    WHERE path.seen < ${limit}
  )`
}

/** The newest undeleted messages of a path, in ascending order. */
export async function readPath (executor: Executor, { threadKey, from, limit }: { threadKey: string, from: string | null, limit: number }): Promise<readonly Message[]> {
  if (from === null) return []
  const rows = await executor.query<MessageRow>(sql`${pathTable({ threadKey, from, limit, visible: undeleted })}
    SELECT ${messageColumns} FROM path CROSS JOIN "Message" m WHERE m."threadKey" = ${threadKey} AND m.id = path.id AND path.visible = 1 ORDER BY m.position`)
  return rows.map(toMessage)
}
