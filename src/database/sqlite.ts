import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { PrismaLibSql } from '@prisma/adapter-libsql'
import { empty, sqltag as sql } from '@prisma/client/runtime/client'
import { AppError } from '../errors.ts'
import type { Connection, Dialect } from './client.ts'
import { PrismaClient } from './generated/sqlite/client.ts'
import type { MigrationHost } from './migrator.ts'
import { openSqliteConnection, whenFree, type SqliteConnection, type SqliteStatement } from './sqlite-connection.ts'

const dialect: Dialect = {
  // Every transaction is the only writer from its first statement on.
  lockThread: empty,
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`
}

/** Opens the file, and makes it and its folder where they are missing. */
export function openSqlite (url: string): Connection {
  const connection = openFile(url)
  const adapter = new PrismaLibSql({ url })
  // Not the adapter's own client: that one opens a new connection for each transaction, whose settings are the defaults.
  // The adapter uses of it what `clientOver` has.
  adapter.createClient = () => clientOver(connection) as unknown as ReturnType<PrismaLibSql['createClient']>
  const client = new PrismaClient({ adapter, transactionOptions: { maxWait: 10_000, timeout: 15_000 } })
  return { provider: 'sqlite', client, dialect, migrations: migrationsOn(connection), close: () => client.$disconnect().then(() => connection.close()) }
}

function openFile (url: string): SqliteConnection {
  const path = pathOf(url)
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
    return openSqliteConnection(path)
  } catch (cause) {
    throw new AppError('storage_unavailable', `The database file ${path} cannot be opened. Check DATABASE_URL and the permissions of its folder.`, { cause })
  }
}

function pathOf (url: string): string {
  const path = url.slice('file:'.length).replace(/\?.*$/, '')
  return path.startsWith('//') ? path.slice(2) : path
}

/**
 * The adapter takes its lock for each statement and for the whole of a transaction, so all of them share one connection
 * and no statement of others falls into a transaction.
 */
function clientOver (connection: SqliteConnection) {
  return {
    execute: (statement: SqliteStatement) => whenFree(() => connection.execute(statement)),
    executeMultiple: async (script: string) => { connection.script(script) },
    // Immediate: a deferred one would fail at its first write when another process wrote after its first read.
    transaction: async () => {
      await whenFree(() => { connection.script('BEGIN IMMEDIATE') })
      return {
        execute: async (statement: SqliteStatement) => connection.execute(statement),
        commit: async () => { connection.script('COMMIT') },
        rollback: async () => { if (connection.inTransaction) connection.script('ROLLBACK') }
      }
    },
    close: () => {}
  }
}

/** Foreign keys rest meanwhile: replacing a table drops the old one, which would cascade to the rows that refer to it. */
function migrationsOn (connection: SqliteConnection): MigrationHost {
  return {
    provider: 'sqlite',
    exclusively: async (work) => {
      connection.script('PRAGMA foreign_keys = OFF')
      try {
        await whenFree(() => { connection.script('BEGIN IMMEDIATE') })
        const result = await work({
          script: async (text) => { connection.script(text) },
          rows: async (text, args) => named(connection, { sql: text, args })
        })
        const [broken] = connection.execute({ sql: 'PRAGMA foreign_key_check', args: [] }).rows
        if (broken !== undefined) throw new Error(`A migration breaks a foreign key of table ${String(broken[0])}`)
        connection.script('COMMIT')
        return result
      } finally {
        if (connection.inTransaction) connection.script('ROLLBACK')
        connection.script('PRAGMA foreign_keys = ON')
      }
    }
  }
}

function named (connection: SqliteConnection, statement: SqliteStatement): Record<string, unknown>[] {
  const { columns, rows } = connection.execute(statement)
  return rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], value])))
}
