import { join, sqltag as sql } from '@prisma/client/runtime/client'
import type { FileStore } from '../files/file-store.ts'
import type { StoreContext } from './client.ts'
import { fileColumns, outcomeColumns, toFile, type FileRow } from './file-rows.ts'

type FileJobStore = Pick<FileStore, 'waiting' | 'claim' | 'setStep' | 'finish' | 'databaseId' | 'knownKeys'>

interface WaitingRow {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly holder: string | null
  readonly leaseUntil: Date | null
}

/** What the jobs that read files ask, whoever the files belong to. */
export function createFileJobStore ({ driver }: StoreContext): FileJobStore {
  return {
    waiting: async (limit) => {
      const rows = await driver.query<WaitingRow>(sql`SELECT id, status, attempts, holder, "leaseUntil" FROM "File"
        WHERE status IN ('pending', 'processing') ORDER BY id LIMIT ${limit}`)
      return rows.map(({ id, status, attempts, holder, leaseUntil }) => ({
        id, attempts, status: status === 'pending' ? 'pending' : 'processing', holder: holder ?? undefined, leaseUntil: leaseUntil ?? undefined
      }))
    },

    claim: async (fileId, { claimId, holder, leaseUntil, deadHolder = '' }) => {
      const now = new Date()
      const claimed = await driver.execute(sql`UPDATE "File" SET status = 'processing', step = 'reading', attempts = attempts + 1,
        holder = ${holder}, "claimId" = ${claimId}, "leaseUntil" = ${leaseUntil}, "updatedAt" = ${now}
        WHERE id = ${fileId} AND (status = 'pending' OR (status = 'processing' AND ("leaseUntil" < ${now} OR holder = ${deadHolder})))`)
      if (claimed === 0) return undefined
      const [row] = await driver.query<FileRow>(sql`SELECT ${fileColumns} FROM "File" f JOIN "Thread" t ON t.key = f."threadKey" WHERE f.id = ${fileId} AND f."claimId" = ${claimId}`)
      return row === undefined ? undefined : { claimId, file: toFile(row) }
    },

    setStep: async ({ claimId, file }, step) => {
      await driver.execute(sql`UPDATE "File" SET step = ${step}, "updatedAt" = ${new Date()} WHERE id = ${file.id} AND "claimId" = ${claimId} AND status = 'processing'`)
    },

    finish: async ({ claimId, file }, outcome) => {
      return await driver.execute(sql`UPDATE "File" SET ${outcomeColumns(outcome)}, step = NULL, "claimId" = NULL, holder = NULL, "leaseUntil" = NULL, "updatedAt" = ${new Date()}
        WHERE id = ${file.id} AND "claimId" = ${claimId} AND status = 'processing'`) > 0
    },

    databaseId: async () => {
      // The first migration got an id of its own when it was applied.
      const [row] = await driver.query<{ id: string }>(sql`SELECT id FROM "_prisma_migrations" ORDER BY migration_name, id LIMIT 1`)
      if (row === undefined) throw new Error('The database has no migrations')
      return row.id
    },

    knownKeys: async (keys) => {
      if (keys.length === 0) return new Set()
      const rows = await driver.query<{ storageKey: string }>(sql`SELECT "storageKey" FROM "File" WHERE "storageKey" IN (${join([...keys])})`)
      return new Set(rows.map(({ storageKey }) => storageKey))
    }
  }
}
