import { sqltag as sql } from '@prisma/client/runtime/client'
import { AppError, isAppError } from '../errors.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import type { ApprovalStore } from '../approvals/approval-store.ts'
import type { FileStore } from '../files/file-store.ts'
import type { VersionedMemory } from '../memories/memory.ts'
import type { RuntimeAgentStore } from '../runtime-agents/runtime-agent-store.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import type { ThreadStore } from '../threads/thread-store.ts'
import type { Connection, Provider } from './client.ts'
import { translate, translating } from './failures.ts'
import { migrate, readMigrations } from './migrator.ts'
import { openPostgresql } from './postgresql.ts'
import { openSqlite } from './sqlite.ts'
import { createArtifactStore } from './artifact-store.ts'
import { createApprovalStore } from './approval-store.ts'
import { createFileStore } from './file-store.ts'
import { createMemoryStore } from './memory-store.ts'
import { createRuntimeAgentStore } from './runtime-agent-store.ts'
import { createThreadStore } from './thread-store.ts'
import { createTurnStore } from './turn-store.ts'

export interface DatabaseLog {
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
}

export interface DatabaseOptions {
  /** `file:<path>` or `postgresql://user:password@host:port/database?schema=name`. */
  readonly url: string
  readonly log?: DatabaseLog | undefined
}

export interface Database {
  readonly provider: Provider
  readonly threads: ThreadStore
  readonly turns: TurnStore
  readonly files: FileStore
  readonly approvals: ApprovalStore
  readonly artifacts: ArtifactStore
  readonly memories: VersionedMemory
  readonly runtimeAgents: RuntimeAgentStore
  /** Throws storage_unavailable when the database does not answer. */
  ping: () => Promise<void>
  /** Idempotent. */
  close: () => Promise<void>
}

/**
 * Opens a database and brings it up to date. Throws an AppError whose message is one line for the operator:
 * configuration_error for a URL or migrations that cannot be right, storage_unavailable when nothing answers.
 */
export async function openDatabase ({ url, log }: DatabaseOptions): Promise<Database> {
  const connection = connect(url, log)
  try {
    const applied = await migrate(connection.migrations, await readMigrations(connection.provider))
    if (applied.length > 0) log?.info({ migrations: applied }, 'database migrated')
  } catch (error) {
    await connection.close()
    throw startFailure(error, url)
  }
  const { provider, driver } = connection
  let closed: Promise<void> | undefined
  return {
    provider,
    threads: translating(createThreadStore(connection)),
    turns: translating(createTurnStore(connection)),
    files: translating(createFileStore(connection)),
    approvals: translating(createApprovalStore(connection)),
    artifacts: translating(createArtifactStore(connection)),
    memories: translating(createMemoryStore(connection)),
    runtimeAgents: translating(createRuntimeAgentStore(connection)),
    ping: async () => {
      try {
        await driver.query(sql`SELECT 1`)
      } catch (error) {
        throw translate(error)
      }
    },
    close: () => (closed ??= connection.close())
  }
}

function connect (url: string, log: DatabaseLog | undefined): Connection {
  if (url.startsWith('file:')) return openSqlite(url)
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    return openPostgresql(url, { onConnectionError: (err) => { log?.warn({ err }, 'a database connection broke') } })
  }
  throw new AppError('configuration_error', `DATABASE_URL must be file:<path> or postgresql://user:password@host:5432/database, not ${withoutPassword(url)}`)
}

function startFailure (error: unknown, url: string): unknown {
  const translated = translate(error)
  if (!isAppError(translated) || translated.code !== 'storage_unavailable' || url.startsWith('file:')) return translated
  const start = 'docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=postgres postgres:17'
  return new AppError('storage_unavailable', `The database at ${withoutPassword(url)} is not reachable (${reasonOf(error)}). Check DATABASE_URL, or start one: ${start}`, { cause: error })
}

// Node's error for a name with several addresses has a code and an empty message.
function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  return error.message !== '' ? error.message : String('code' in error ? error.code : error.name)
}

function withoutPassword (url: string): string {
  return url.replace(/^([^:/]+:\/\/[^:/@]*):.*@/, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}
