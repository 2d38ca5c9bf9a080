import { sqltag as sql } from '@prisma/client/runtime/client'
import type { Recollection, VersionedMemory } from '../memories/memory.ts'
import type { StoreContext } from './client.ts'
import { ownedBy } from './owned-thread.ts'

/** What agents remember of stored threads; it goes with them. A thread that is not there remembers nothing. */
export function createMemoryStore ({ driver }: Pick<StoreContext, 'driver'>): VersionedMemory {
  return {
    recall: async ({ principal, agentId, threadId }) => {
      const [row] = await driver.query<{ messages: string, version: string }>(sql`SELECT r.messages, r.version FROM "Recollection" r JOIN "Thread" t ON t.key = r."threadKey"
        WHERE ${ownedBy(principal, threadId)} AND r."agentId" = ${agentId}`)
      if (row === undefined) return { messages: [], version: undefined }
      return { messages: JSON.parse(row.messages) as Recollection['messages'], version: row.version } // written below
    },

    remember: async ({ principal, agentId, threadId }, messages, { version, replaces }) => {
      const text = JSON.stringify(messages)
      const now = new Date()
      // Each is one statement, so no other write comes between what it looks at and what it does.
      const written = replaces === undefined
        ? await driver.execute(sql`INSERT INTO "Recollection" ("threadKey", "agentId", version, messages, "updatedAt")
            SELECT t.key, ${agentId}, ${version}, ${text}, ${now} FROM "Thread" t WHERE ${ownedBy(principal, threadId)} ON CONFLICT DO NOTHING`)
        : await driver.execute(sql`UPDATE "Recollection" SET version = ${version}, messages = ${text}, "updatedAt" = ${now}
            WHERE "agentId" = ${agentId} AND version = ${replaces} AND "threadKey" IN (SELECT t.key FROM "Thread" t WHERE ${ownedBy(principal, threadId)})`)
      return written > 0
    }
  }
}
