import { sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import type { Principal } from '../auth/principal.ts'
import type { Dialect } from './client.ts'
import type { Executor } from './executor.ts'

/** The condition on thread `t` that makes it this thread of this owner. */
export function ownedBy ({ tenantId, userId }: Pick<Principal, 'tenantId' | 'userId'>, threadId: string): Sql {
  return sql`t."tenantId" = ${tenantId} AND t."ownerId" = ${userId} AND t.id = ${threadId}`
}

/** The same in Prisma's words. */
export function ownedWhere ({ tenantId, userId }: Principal, threadId: string) {
  return { tenantId, ownerId: userId, id: threadId }
}

export interface ThreadKey { readonly key: string, readonly headId: string | null }

export async function findKey (executor: Executor, principal: Principal, threadId: string): Promise<ThreadKey | undefined> {
  const [row] = await executor.query<ThreadKey>(sql`SELECT t.key, t."headId" FROM "Thread" t WHERE ${ownedBy(principal, threadId)}`)
  return row
}

/** As `findKey`, and the thread waits for the end of this transaction: its counters may be changed safely. */
export async function lockKey (tx: Executor, dialect: Dialect, principal: Principal, threadId: string): Promise<ThreadKey | undefined> {
  const [row] = await tx.query<ThreadKey>(sql`SELECT t.key, t."headId" FROM "Thread" t WHERE ${ownedBy(principal, threadId)} ${dialect.lockThread}`)
  return row
}
