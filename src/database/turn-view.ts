import type { Principal } from '../auth/principal.ts'
import type { Run, TurnView } from '../runs/turn-store.ts'
import type { Message } from '../threads/message.ts'
import type { Dialect, TransactionClient } from './client.ts'
import { ownedBy } from './owned-thread.ts'
import { readPath } from './path.ts'
import { toMessage, toRun, toThread, type MessageRow, type RunRow, type ThreadRow } from './rows.ts'

export interface TurnQuery { readonly lookup?: string | undefined, readonly contextLimit: number }

export interface ReadView { readonly view: TurnView, readonly row: ThreadRow | undefined }

interface ThreadAndRunRow extends ThreadRow {
  readonly runId: string | null
  readonly runMessageId: string
  readonly runAgentId: string
  readonly runStatus: string
  readonly runHolder: string
  readonly runLeaseUntil: Date
  readonly runCreatedAt: Date
}

const nothing: TurnView = { thread: undefined, activeRun: undefined, path: [], found: undefined, foundPath: [] }

/** Reads what a turn is decided on; the thread waits for the end of the transaction. */
export async function readTurnView (tx: TransactionClient, dialect: Dialect, principal: Principal, threadId: string, query: TurnQuery): Promise<ReadView> {
  const [row] = await tx.$queryRaw<ThreadAndRunRow[]>`SELECT t.*, r.id AS "runId", r."messageId" AS "runMessageId", r."agentId" AS "runAgentId",
    r.status AS "runStatus", r.holder AS "runHolder", r."leaseUntil" AS "runLeaseUntil", r."createdAt" AS "runCreatedAt"
    FROM "Thread" t LEFT JOIN "Run" r ON r."activeThreadKey" = t.key WHERE ${ownedBy(principal, threadId)} ${dialect.lockThread}`
  if (row === undefined) return { view: nothing, row }
  const path = await readPath(tx, { threadKey: row.key, from: row.headId, limit: query.contextLimit })
  const found = await findMessage(tx, row, path, query)
  return { view: { thread: toThread(row), activeRun: activeRunOf(row), path, ...found }, row }
}

function activeRunOf (row: ThreadAndRunRow): Run | undefined {
  if (row.runId === null) return undefined
  const run: RunRow = {
    id: row.runId,
    threadKey: row.key,
    messageId: row.runMessageId,
    agentId: row.runAgentId,
    status: row.runStatus,
    activeThreadKey: row.key,
    holder: row.runHolder,
    leaseUntil: row.runLeaseUntil,
    errorCode: null,
    errorRef: null,
    createdAt: row.runCreatedAt,
    endedAt: null
  }
  return toRun(run, row.id)
}

async function findMessage (tx: TransactionClient, thread: ThreadRow, path: readonly Message[], { lookup, contextLimit }: TurnQuery): Promise<Pick<TurnView, 'found' | 'foundPath'>> {
  if (lookup === undefined) return { found: undefined, foundPath: [] }
  const index = path.findLastIndex(({ id, clientId }) => id === lookup || clientId === lookup)
  const onPath = path[index]
  // A path shorter than asked for is complete, so what leads to the message is too.
  if (onPath !== undefined && path.length < contextLimit) return { found: onPath, foundPath: path.slice(0, index + 1) }
  const found = onPath ?? await searchMessage(tx, thread, lookup)
  if (found === undefined) return { found, foundPath: [] }
  const leading = await readPath(tx, { threadKey: thread.key, from: found.id, limit: contextLimit })
  // A deleted message leads nowhere by itself, but it is what was asked for.
  return { found, foundPath: found.deletedAt === undefined ? leading : [...leading, found] }
}

async function searchMessage (tx: TransactionClient, thread: ThreadRow, lookup: string): Promise<Message | undefined> {
  const rows = await tx.$queryRaw<MessageRow[]>`SELECT m.* FROM "Message" m WHERE m."threadKey" = ${thread.key} AND (m.id = ${lookup} OR m."clientId" = ${lookup}) ORDER BY m.position DESC`
  const onHeadPath = rows.length > 1 ? await firstOnPath(tx, thread, rows.map(({ id }) => id)) : undefined
  const row = rows.find(({ id }) => id === onHeadPath) ?? rows[0]
  return row === undefined ? undefined : toMessage(row)
}

/** Several branches have a message of that name: the one on the branch on show. Walks it all, which is rare. */
async function firstOnPath (tx: TransactionClient, thread: ThreadRow, ids: readonly string[]): Promise<string | undefined> {
  const rows = await tx.$queryRaw<{ id: string }[]>`WITH RECURSIVE path (id, "parentId") AS (
      SELECT m.id, m."parentId" FROM "Message" m WHERE m."threadKey" = ${thread.key} AND m.id = ${thread.headId}
      UNION ALL
      SELECT m.id, m."parentId" FROM path JOIN "Message" m ON m."threadKey" = ${thread.key} AND m.id = path."parentId"
    ) SELECT path.id FROM path`
  return rows.find(({ id }) => ids.includes(id))?.id
}
