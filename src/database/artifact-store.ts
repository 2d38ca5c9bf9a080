import { empty, raw, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { ArtifactStore, StoredArtifact } from '../artifacts/artifact-store.ts'
import type { AgentPath } from '../events/run-event.ts'
import type { StoreContext } from './client.ts'
import { decodeCursor, encodeCursor, placeId } from './cursor.ts'
import type { Artifact as ArtifactRow } from './generated/sqlite/client.ts'
import { findKey } from './owned-thread.ts'
import { finished } from './path.ts'

// Ids are made in the order of time.
const place = z.tuple([placeId])
const columns = raw(['id', 'messageId', 'runId', 'agentId', 'name', 'callId', 'sourceCallId', 'agentPath', 'data', 'createdAt'].map((name) => `a."${name}"`).join(', '))

export function createArtifactStore ({ driver }: StoreContext): ArtifactStore {
  return {
    list: async (principal, threadId, { limit, cursor }) => {
      const thread = await findKey(driver, principal, threadId)
      if (thread === undefined) return undefined
      const rows = await driver.query<Row>(sql`SELECT ${columns} FROM "Artifact" a JOIN "Message" m ON m."threadKey" = a."threadKey" AND m.id = a."messageId"
        WHERE a."threadKey" = ${thread.key} AND ${finished} ${after(cursor)} ORDER BY a.id DESC LIMIT ${limit + 1}`)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit).map((row) => toArtifact(row, threadId)), nextCursor: last === undefined ? undefined : encodeCursor([last.id]) }
    }
  }
}

type Row = Omit<ArtifactRow, 'threadKey'>

/** Only we write this table, so a text column holds what its type says; hence the `as`. */
function toArtifact ({ sourceCallId, agentPath, data, ...row }: Row, threadId: string): StoredArtifact {
  return { ...row, threadId, sourceCallId: sourceCallId ?? undefined, agentPath: JSON.parse(agentPath) as AgentPath, data: JSON.parse(data) as unknown }
}

function after (cursor: string | undefined): Sql {
  return cursor === undefined ? empty : sql`AND a.id < ${decodeCursor(cursor, place, 'cursor')[0]}`
}
