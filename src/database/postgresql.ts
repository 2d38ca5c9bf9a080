import { PrismaPg } from '@prisma/adapter-pg'
import { sqltag as sql } from '@prisma/client/runtime/client'
import pg from 'pg'
import { AppError } from '../errors.ts'
import type { Client, Connection, Dialect } from './client.ts'
import { PrismaClient } from './generated/postgresql/client.ts'
import type { MigrationHost } from './migrator.ts'
import { createPostgresqlDriver } from './postgresql-driver.ts'

// The key of Prisma's own migrations, so that `prisma migrate deploy` and we wait for each other.
const migrationLock = 72_707_369

const dialect: Dialect = {
  lockThread: sql`FOR UPDATE OF t`,
  contains: (column, text) => sql`strpos(${column}, ${text}) > 0`
}

export interface PostgresqlOptions {
  /** A connection broke while nobody used it, or under somebody who is told by their own statement. */
  readonly onConnectionError: (error: Error) => void
}

/** Connects nothing yet: the first statement does. */
export function openPostgresql (url: string, { onConnectionError }: PostgresqlOptions): Connection {
  const { schema, connectionString, max, options } = settingsOf(url)
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    keepAlive: true,
    pipeline: true,
    // Statements written by hand name no schema.
    options: `${options} -c search_path="${schema}"`
  })
  // Without a listener an idle connection that breaks would end the process.
  pool.on('error', onConnectionError)
  const adapter = new PrismaPg(pool, { schema, onPoolError: () => {}, onConnectionError })
  const client = new PrismaClient({ adapter, transactionOptions: { maxWait: 10_000, timeout: 15_000 } })
  return {
    provider: 'postgresql',
    // Generated from the same models, so it has the same methods; only Prisma's names for the types differ.
    client: client as unknown as Client,
    driver: createPostgresqlDriver(pool, { onConnectionError }),
    dialect,
    migrations: migrationsOn(pool, schema),
    close: () => client.$disconnect().then(() => pool.end())
  }
}

function settingsOf (url: string): { schema: string, connectionString: string, max: number, options: string } {
  const parsed = new URL(url)
  const schema = parsed.searchParams.get('schema') ?? 'public'
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) {
    throw new AppError('configuration_error', 'DATABASE_URL: the schema must be letters, digits and "_", at most 63.')
  }
  const max = Number(parsed.searchParams.get('connection_limit') ?? 10)
  const options = parsed.searchParams.get('options') ?? ''
  // What the driver finds in the URL replaces what it is told.
  for (const name of ['schema', 'connection_limit', 'options']) parsed.searchParams.delete(name)
  return { schema, connectionString: parsed.toString(), max, options }
}

function migrationsOn (pool: pg.Pool, schema: string): MigrationHost {
  return {
    provider: 'postgresql',
    exclusively: async (work) => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query(`SELECT pg_advisory_xact_lock(${migrationLock})`)
        await createSchema(client, schema)
        const result = await work({
          script: async (text) => { await client.query(text) },
          rows: async (text, args) => (await client.query<Record<string, unknown>>(numbered(text), [...args])).rows
        })
        await client.query('COMMIT')
        client.release()
        return result
      } catch (error) {
        // Destroys the connection, which rolls back.
        client.release(true)
        throw error
      }
    }
  }
}

// Asked first: CREATE SCHEMA IF NOT EXISTS needs the right to create even where the schema exists.
async function createSchema (client: pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
  if (rows.length === 0) await client.query(`CREATE SCHEMA "${schema}"`)
}

function numbered (text: string): string {
  let count = 0
  return text.replaceAll('?', () => `$${++count}`)
}
