import { setTimeout as delay } from 'node:timers/promises'
import Libsql from 'libsql'

export interface SqliteResult {
  readonly columns: string[]
  readonly columnTypes: string[]
  readonly rows: unknown[][]
  readonly rowsAffected: number
}

export interface SqliteStatement { readonly sql: string, readonly args: readonly unknown[] }

/** One SQLite connection. Synchronous underneath: whoever awaits between statements of a transaction must hold a lock. */
export interface SqliteConnection {
  execute: (statement: SqliteStatement) => SqliteResult
  /** Any number of statements, without arguments. */
  script: (sql: string) => void
  /** Immediate: a deferred one would fail at its first write when another process wrote after its first read. */
  begin: () => void
  commit: () => void
  rollback: () => void
  readonly inTransaction: boolean
  close: () => void
}

interface Prepared {
  readonly statement: Libsql.Statement
  /** Undefined where the statement returns no rows. */
  readonly shape: { readonly columns: string[], readonly columnTypes: string[] } | undefined
}

const busyMs = 5_000
// Of 4 KB each: hot pages are written back to the file once for many commits. The WAL stays about as large as this.
const checkpointPages = 4_000
// More than the service has; multi-row statements come in several lengths.
const maxPrepared = 200

/**
 * WAL with synchronous=NORMAL: a commit survives the death of the process at once, and a power cut loses at most the
 * last commits, never the file.
 */
export function openSqliteConnection (path: string): SqliteConnection {
  const database = new Libsql(path)
  const prepared = new Map<string, Prepared>()
  // Waits inside SQLite only while opening; later it would hold up the whole process, see `whenFree`.
  for (const pragma of [`busy_timeout = ${busyMs}`, 'journal_mode = WAL', 'synchronous = NORMAL', 'foreign_keys = ON', `wal_autocheckpoint = ${checkpointPages}`, 'busy_timeout = 0']) {
    database.pragma(pragma)
  }

  function prepare (sql: string): Prepared {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const made = prepareOn(database, sql)
    if (prepared.size === maxPrepared) forgetOldest(prepared)
    prepared.set(sql, made)
    return made
  }

  function execute ({ sql, args }: SqliteStatement): SqliteResult {
    // A prepared statement would still work then, and keep the file open.
    // Without a code: Prisma's adapter would take one for SQLite's and lose the meaning.
    if (!database.open) throw new Error('The database is closed')
    return run(prepare(sql), args.map(toSqlite))
  }

  return {
    execute,
    script: (sql) => { database.exec(sql) },
    begin: () => { execute({ sql: 'BEGIN IMMEDIATE', args: [] }) },
    commit: () => { execute({ sql: 'COMMIT', args: [] }) },
    rollback: () => { execute({ sql: 'ROLLBACK', args: [] }) },
    get inTransaction () { return database.inTransaction },
    close: () => {
      prepared.clear()
      database.close()
    }
  }
}

/**
 * Does something that starts a transaction of its own (a lone statement, or BEGIN), again and again while another
 * connection writes to the file, for as long as a few seconds.
 */
export async function whenFree<T> (act: () => T): Promise<T> {
  const deadline = Date.now() + busyMs
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    try {
      return act()
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error
      await delay(waitMs)
    }
  }
}

function isBusy (error: unknown): boolean {
  return error instanceof Libsql.SqliteError && error.rawCode !== undefined && (error.rawCode & 0xff) === 5
}

function prepareOn (database: Libsql.Database, sql: string): Prepared {
  const statement = database.prepare(sql)
  if (!statement.reader) return { statement, shape: undefined }
  statement.raw(true)
  const columns = statement.columns()
  return { statement, shape: { columns: columns.map(({ name }) => name), columnTypes: columns.map(({ type }) => type ?? '') } }
}

function run ({ statement, shape }: Prepared, args: unknown[]): SqliteResult {
  if (shape === undefined) return { columns: [], columnTypes: [], rows: [], rowsAffected: statement.run(args).changes }
  // In raw mode a row is the array of its values.
  return { ...shape, rows: statement.all(args) as unknown[][], rowsAffected: 0 }
}

function forgetOldest (prepared: Map<string, Prepared>): void {
  const oldest = prepared.keys().next().value
  if (oldest !== undefined) prepared.delete(oldest)
}

function toSqlite (value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return value.valueOf()
  return value
}
