import type { TurnStore } from '../runs/turn-store.ts'
import { createBeginTurn } from './begin-turn.ts'
import type { StoreContext } from './client.ts'
import { createEndOfRun } from './end-run.ts'
import { ownedWhere } from './owned-thread.ts'
import { toMessage, toRun, type MessageRow } from './rows.ts'
import { titleColumns } from './thread-list-store.ts'

export function createTurnStore (context: StoreContext): TurnStore {
  const { client } = context
  return {
    begin: createBeginTurn(context),
    ...createEndOfRun(context),

    suggestTitle: async (principal, threadId, title) => {
      const data = { ...titleColumns(title), updatedAt: new Date() }
      const { count } = await client.thread.updateMany({ where: { ...ownedWhere(principal, threadId), title: null }, data })
      return count > 0
    },

    run: async ({ tenantId, userId }, id) => {
      const row = await client.run.findFirst({ where: { id, thread: { tenantId, ownerId: userId } }, include: { thread: { select: { id: true } } } })
      return row === null ? undefined : toRun(row, row.thread.id)
    },

    activeRun: async (principal, threadId) => {
      const row = await client.run.findFirst({ where: { active: ownedWhere(principal, threadId) } })
      return row === null ? undefined : toRun(row, threadId)
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
      const [row] = await client.$queryRaw<MessageRow[]>`SELECT m.* FROM "Run" r JOIN "Message" m ON m."threadKey" = r."threadKey" AND m.id = r."messageId" WHERE r.id = ${runId}`
      return row === undefined ? undefined : toMessage(row)
    }
  }
}
