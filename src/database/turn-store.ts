import { sqltag as sql } from '@prisma/client/runtime/client'
import { ownerOf } from '../auth/principal.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import { createBeginTurn } from './begin-turn.ts'
import type { StoreContext } from './client.ts'
import { createEndOfRun } from './end-run.ts'
import { ownedBy } from './owned-thread.ts'
import { messageColumns, runColumns, toMessage, toRun, type MessageRow, type RunRow } from './rows.ts'
import { titleColumns } from './thread-list-store.ts'

export function createTurnStore (context: StoreContext): TurnStore {
  const { client, driver } = context
  return {
    begin: createBeginTurn(context),
    ...createEndOfRun(context),

    suggestTitle: async (principal, threadId, title) => {
      const { title: shown, titleSearch } = titleColumns(title)
      const titled = await driver.execute(sql`UPDATE "Thread" AS t SET title = ${shown}, "titleSearch" = ${titleSearch}, "updatedAt" = ${new Date()}
        WHERE ${ownedBy(principal, threadId)} AND t.title IS NULL`)
      return titled > 0
    },

    run: async (principal, id) => {
      const row = await client.run.findFirst({ where: { id, thread: { tenantId: principal.tenantId, ownerId: ownerOf(principal) } }, include: { thread: { select: { id: true } } } })
      return row === null ? undefined : toRun(row, row.thread.id)
    },

    activeRun: async (principal, threadId) => {
      const [row] = await driver.query<RunRow>(sql`SELECT ${runColumns} FROM "Thread" t JOIN "Run" r ON r."activeThreadKey" = t.key WHERE ${ownedBy(principal, threadId)}`)
      return row === undefined ? undefined : toRun(row, threadId)
    },

    renewLeases: async (holder, leaseUntil) => {
      await client.run.updateMany({ where: { holder, status: 'running' }, data: { leaseUntil } })
    },

    runningRuns: async () => {
      const rows = await client.run.findMany({ where: { status: 'running' }, include: { thread: { select: { id: true, tenantId: true, ownerId: true } } }, orderBy: { id: 'asc' } })
      return rows.map(({ thread, ...row }) => {
        const principal = { tenantId: thread.tenantId, userId: thread.ownerId, roles: [] }
        return { ...toRun(row, thread.id), principal }
      })
    },

    messageOfRun: async (runId) => {
      const [row] = await driver.query<MessageRow>(sql`SELECT ${messageColumns} FROM "Run" r JOIN "Message" m ON m."threadKey" = r."threadKey" AND m.id = r."messageId" WHERE r.id = ${runId}`)
      return row === undefined ? undefined : toMessage(row)
    }
  }
}
