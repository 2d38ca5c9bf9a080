import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { PrismaLibSql } from '@prisma/adapter-libsql'
import { empty, sqltag as sql } from '@prisma/client/runtime/client'
import { AppError } from '../errors.ts'
import type { Connection, Dialect } from './client.ts'
import { PrismaClient } from './generated/sqlite/client.ts'
import type { MigrationHost } from './migrator.ts'
import { openSqliteConnection, whenFree, type SqliteConnection, type SqliteStatement } from './sqlite-connection.ts'
import { createSqliteDriver } from './sqlite-driver.ts'
import { createSqliteGate, type SqliteGate } from './sqlite-gate.ts'

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
  const gate = createSqliteGate(connection)
  adapter.createClient = () => clientOver(gate) as unknown as ReturnType<PrismaLibSql['createClient']>
  const client = new PrismaClient({ adapter, transactionOptions: { maxWait: 10_000, timeout: 15_000 } })
  return {
    provider: 'sqlite',
    client,
    driver: createSqliteDriver(gate),
    dialect,
    migrations: migrationsOn(connection),
    close: () => client.$disconnect().then(() => connection.close())
  }
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

/** What Prisma's adapter uses of a client. */
function clientOver ({ execute, begin }: SqliteGate) {
  return { execute, transaction: begin, close: () => {} }
}

/** Foreign keys rest meanwhile: replacing a table drops the old one, which would cascade to the rows that refer to it. */
function migrationsOn (connection: SqliteConnection): MigrationHost {
  return {
    provider: 'sqlite',
    exclusively: async (work) => {
      connection.script('PRAGMA foreign_keys = OFF')
      try {
        await whenFree(connection.begin)
        const result = await work({
          script: async (text) => { connection.script(text) },
          rows: async (text, args) => named(connection, { sql: text, args })
        })
        const [broken] = connection.execute({ sql: 'PRAGMA foreign_key_check', args: [] }).rows
        if (broken !== undefined) throw new Error(`A migration breaks a foreign key of table ${String(broken[0])}`)
        connection.commit()
        return result
      } finally {
        if (connection.inTransaction) connection.rollback()
        connection.script('PRAGMA foreign_keys = ON')
      }
    }
  }
}

function named (connection: SqliteConnection, statement: SqliteStatement): Record<string, unknown>[] {
  const { columns, rows } = connection.execute(statement)
  return rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], value])))
}
