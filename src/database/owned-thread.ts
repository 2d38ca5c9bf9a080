import { sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import { ownerOf, type Principal } from '../auth/principal.ts'
import type { Dialect } from './client.ts'
import type { Executor } from './executor.ts'

type Owner = Pick<Principal, 'tenantId' | 'userId' | 'ownerId'>

/** The condition on thread `t` that makes it this thread of this owner. */
export function ownedBy (principal: Owner, threadId: string): Sql {
  return sql`${anyOwnedBy(principal)} AND t.id = ${threadId}`
}

/** The same for all threads of this owner. */
export function anyOwnedBy (principal: Owner): Sql {
  return sql`t."tenantId" = ${principal.tenantId} AND t."ownerId" = ${ownerOf(principal)}`
}

/** The same in Prisma's words. */
export function ownedWhere (principal: Principal, threadId: string) {
  return { tenantId: principal.tenantId, ownerId: ownerOf(principal), id: threadId }
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
