import { sqltag as sql } from '@prisma/client/runtime/client'
import type { Principal } from '../auth/principal.ts'
import type { ThreadStore, UsageLine } from '../threads/thread-store.ts'
import type { StoreContext } from './client.ts'
import { findKey, ownedBy } from './owned-thread.ts'
import { storable } from './text.ts'

type FeedbackStore = Pick<ThreadStore, 'rate' | 'unrate' | 'usage'>

interface UsageRow {
  readonly agentPath: string
  readonly model: string
  readonly calls: number | bigint
  readonly input: number | bigint
  readonly output: number | bigint
  readonly reasoning: number | bigint
  readonly cachedRead: number | bigint
  readonly cacheWrite: number | bigint
  readonly costUsd: number | null
  readonly estimatedCalls: number | bigint
}

export function createFeedbackStore ({ driver }: StoreContext): FeedbackStore {
  /** The key of the thread when it has this assistant message. */
  async function threadOfAnswer (principal: Principal, threadId: string, messageId: string): Promise<string | undefined> {
    const [row] = await driver.query<{ key: string }>(sql`SELECT t.key FROM "Thread" t JOIN "Message" m ON m."threadKey" = t.key
      WHERE ${ownedBy(principal, threadId)} AND m.id = ${messageId} AND m.role = 'assistant' AND m."deletedAt" IS NULL`)
    return row?.key
  }

  return {
    rate: async (principal, threadId, messageId, { rating, comment }) => {
      const threadKey = await threadOfAnswer(principal, threadId, messageId)
      if (threadKey === undefined) return false
      // From the message, so that one that goes away meanwhile is nothing to rate instead of a broken foreign key.
      const rated = await driver.execute(sql`INSERT INTO "Rating" ("threadKey", "messageId", "tenantId", "userId", value, comment, "updatedAt")
        SELECT m."threadKey", m.id, ${principal.tenantId}, ${principal.userId}, CAST(${rating} AS INTEGER), ${comment === undefined ? null : storable(comment)}, ${new Date()}
        FROM "Message" m WHERE m."threadKey" = ${threadKey} AND m.id = ${messageId}
        ON CONFLICT ("threadKey", "messageId", "tenantId", "userId")
        DO UPDATE SET value = excluded.value, comment = excluded.comment, "updatedAt" = excluded."updatedAt"`)
      return rated > 0
    },

    unrate: async (principal, threadId, messageId) => {
      const threadKey = await threadOfAnswer(principal, threadId, messageId)
      if (threadKey === undefined) return false
      const { tenantId, userId } = principal
      await driver.execute(sql`DELETE FROM "Rating" WHERE "threadKey" = ${threadKey} AND "messageId" = ${messageId} AND "tenantId" = ${tenantId} AND "userId" = ${userId}`)
      return true
    },

    usage: async (principal, threadId) => {
      const thread = await findKey(driver, principal, threadId)
      if (thread === undefined) return undefined
      const rows = await driver.query<UsageRow>(sql`SELECT "agentPath", model, count(*) AS calls,
        sum(input) AS input, sum(output) AS output, sum(reasoning) AS reasoning, sum("cachedRead") AS "cachedRead", sum("cacheWrite") AS "cacheWrite",
        CASE WHEN count("costUsd") = count(*) THEN sum("costUsd") END AS "costUsd", sum(CASE WHEN estimated THEN 1 ELSE 0 END) AS "estimatedCalls"
        FROM "Usage" WHERE "threadKey" = ${thread.key} GROUP BY "agentPath", model ORDER BY "agentPath", model`)
      return rows.map(toUsageLine)
    }
  }
}

// Sums are bigint on PostgreSQL; counts of tokens are far from where a number loses precision.
function toUsageLine (row: UsageRow): UsageLine {
  return {
    model: row.model,
    agentPath: row.agentPath,
    calls: Number(row.calls),
    usage: {
      input: Number(row.input),
      output: Number(row.output),
      reasoning: Number(row.reasoning),
      cachedRead: Number(row.cachedRead),
      cacheWrite: Number(row.cacheWrite)
    },
    costUsd: row.costUsd ?? undefined,
    estimated: Number(row.estimatedCalls) > 0
  }
}
