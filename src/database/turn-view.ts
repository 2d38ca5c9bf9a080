import { sqltag as sql } from '@prisma/client/runtime/client'
import type { Principal } from '../auth/principal.ts'
import type { StoredSuspension } from '../runs/answer-suspension.ts'
import type { Run, TurnView } from '../runs/turn-store.ts'
import type { Message } from '../threads/message.ts'
import type { Dialect } from './client.ts'
import type { Executor } from './executor.ts'
import { lookUpMessage } from './message-lookup.ts'
import { ownedBy } from './owned-thread.ts'
import { readPath } from './path.ts'
import { approvalColumns, messageColumns, threadColumns, toApproval, toMessage, toRun, toThread, type ApprovalRow, type MessageRow, type RunRow, type ThreadRow } from './rows.ts'

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
  readonly runCheckpoint: string | null
}

const nothing: TurnView = { thread: undefined, activeRun: undefined, path: [], found: undefined, foundPath: [] }

/** Reads what a turn is decided on; the thread waits for the end of the transaction. */
export async function readTurnView (tx: Executor, dialect: Dialect, principal: Principal, threadId: string, query: TurnQuery): Promise<ReadView> {
  const [row] = await tx.query<ThreadAndRunRow>(sql`SELECT ${threadColumns}, r.id AS "runId", r."messageId" AS "runMessageId", r."agentId" AS "runAgentId",
    r.status AS "runStatus", r.holder AS "runHolder", r."leaseUntil" AS "runLeaseUntil", r."createdAt" AS "runCreatedAt", r.checkpoint AS "runCheckpoint"
    FROM "Thread" t LEFT JOIN "Run" r ON r."activeThreadKey" = t.key WHERE ${ownedBy(principal, threadId)} ${dialect.lockThread}`)
  if (row === undefined) return { view: nothing, row }
  const path = await readPath(tx, { threadKey: row.key, from: row.headId, limit: query.contextLimit })
  const found = await findMessage(tx, row, path, query)
  const activeRun = activeRunOf(row)
  const waiting = activeRun?.status === 'suspended' ? path.find(({ id }) => id === activeRun.messageId) ?? await readMessage(tx, row, activeRun.messageId) : undefined
  const suspension = activeRun?.status === 'suspended' ? await readSuspension(tx, row) : undefined
  return { view: { thread: toThread(row), activeRun, path, ...found, waiting, suspension }, row }
}

async function readSuspension (tx: Executor, { id, runId, runCheckpoint }: ThreadAndRunRow): Promise<TurnView['suspension']> {
  if (runCheckpoint === null) return undefined
  const rows = await tx.query<ApprovalRow>(sql`SELECT ${approvalColumns} FROM "Approval" a WHERE a."runId" = ${runId} ORDER BY a."createdAt", a.id`)
  return { checkpoint: JSON.parse(runCheckpoint) as StoredSuspension['checkpoint'], approvals: rows.map((row) => toApproval(row, id)) } // written by us
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

async function findMessage (tx: Executor, thread: ThreadRow, path: readonly Message[], { lookup, contextLimit }: TurnQuery): Promise<Pick<TurnView, 'found' | 'foundPath'>> {
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

async function searchMessage (tx: Executor, thread: ThreadRow, lookup: string): Promise<Message | undefined> {
  const found = await lookUpMessage(tx, thread, lookup)
  return found === undefined ? undefined : await readMessage(tx, thread, found.id)
}

async function readMessage (tx: Executor, thread: ThreadRow, id: string): Promise<Message | undefined> {
  const [row] = await tx.query<MessageRow>(sql`SELECT ${messageColumns} FROM "Message" m WHERE m."threadKey" = ${thread.key} AND m.id = ${id}`)
  return row === undefined ? undefined : toMessage(row)
}
