import { sqltag as sql } from '@prisma/client/runtime/client'
import type { ApprovalStore } from '../approvals/approval-store.ts'
import type { StoreContext } from './client.ts'
import { anyOwnedBy, findKey } from './owned-thread.ts'
import { approvalColumns, toApproval, type ApprovalRow } from './rows.ts'

interface OwnedRow extends ApprovalRow {
  readonly threadId: string
  readonly tenantId: string
  readonly ownerId: string
}

export function createApprovalStore ({ driver }: StoreContext): ApprovalStore {
  return {
    find: async (principal, approvalId) => {
      const [row] = await driver.query<OwnedRow>(sql`SELECT ${approvalColumns}, t.id AS "threadId" FROM "Approval" a JOIN "Thread" t ON t.key = a."threadKey"
        WHERE a.id = ${approvalId} AND ${anyOwnedBy(principal)}`)
      return row === undefined ? undefined : toApproval(row, row.threadId)
    },

    pending: async (principal, threadId) => {
      const thread = await findKey(driver, principal, threadId)
      if (thread === undefined) return undefined
      const rows = await driver.query<ApprovalRow>(sql`SELECT ${approvalColumns} FROM "Approval" a WHERE a."threadKey" = ${thread.key} AND a.status = 'pending' ORDER BY a."createdAt", a.id`)
      return rows.map((row) => toApproval(row, threadId))
    },

    expired: async (now, limit) => {
      const rows = await driver.query<OwnedRow>(sql`SELECT ${approvalColumns}, t.id AS "threadId", t."tenantId", t."ownerId" FROM "Approval" a JOIN "Thread" t ON t.key = a."threadKey"
        WHERE a.status = 'pending' AND a."expiresAt" <= ${now} ORDER BY a."expiresAt" LIMIT ${limit}`)
      return rows.map((row) => ({ ...toApproval(row, row.threadId), principal: { tenantId: row.tenantId, userId: row.ownerId, roles: [] } }))
    }
  }
}
