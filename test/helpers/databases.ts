import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { openDatabase, type Database } from '../../src/database/database.ts'

export type TestProvider = Database['provider']

export const postgresUrl = process.env.TEST_POSTGRES_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres'
const startPostgres = 'docker run -d -p 127.0.0.1:5432:5432 -e POSTGRES_HOST_AUTH_METHOD=trust postgres:17'

export interface Availability {
  readonly provider: TestProvider
  /** Why tests on this database cannot run: give it to tap as `skip`. */
  readonly skip: string | false
}

/**
 * The databases tests run on: both, or the one that TEST_DATABASE names. Without a PostgreSQL its tests are skipped with
 * the command that starts one, or fail when TEST_REQUIRE_SERVICES=1.
 */
export async function availableProviders (): Promise<readonly Availability[]> {
  const only = process.env.TEST_DATABASE
  return [
    ...only === 'postgresql' ? [] : [{ provider: 'sqlite', skip: false } as const],
    ...only === 'sqlite' ? [] : [{ provider: 'postgresql', skip: await whyNoPostgres() } as const]
  ]
}

/** The `skip` of a test that is about PostgreSQL. */
export async function skipWithoutPostgresql (): Promise<string | false> {
  const postgresql = (await availableProviders()).find(({ provider }) => provider === 'postgresql')
  return postgresql?.skip ?? 'on PostgreSQL only'
}

/** A new database with nothing in it, no table either. A test that fails keeps it. */
export async function emptyDatabaseUrl (t: Test, provider: TestProvider): Promise<string> {
  return provider === 'sqlite' ? freshFile(t) : freshSchema(t)
}

/**
 * A database of the test's own, with tables or without, and no rows in them; TEST_DATABASE chooses which kind where the
 * test does not. A test that fails keeps it.
 */
export async function testDatabaseUrl (t: Test, provider: TestProvider = defaultProvider()): Promise<string> {
  return provider === 'sqlite' ? freshFile(t) : emptiedSchema(t)
}

export async function openTestDatabase (t: Test, url: string): Promise<Database> {
  const database = await openDatabase({ url })
  t.teardown(() => database.close())
  return database
}

function defaultProvider (): TestProvider {
  return process.env.TEST_DATABASE === 'postgresql' ? 'postgresql' : 'sqlite'
}

// Not t.testdir: its next call in the same test would empty the folder of an open database.
async function freshFile (t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  t.teardown(async () => {
    if (t.passing()) await rm(folder, { recursive: true, force: true })
    else t.comment(`kept ${folder}`)
  })
  return `file:${join(folder, 'parley.db')}`
}

async function freshSchema (t: Test): Promise<string> {
  const schema = newSchema()
  t.teardown(() => t.passing() ? drop([schema]) : t.comment(`kept PostgreSQL schema ${schema}`))
  return urlOf(schema)
}

// Making the tables takes longer than most tests, so a schema that a test is done with goes to the next one.
const emptied: string[] = []
let droppedAtLast = false

async function emptiedSchema (t: Test): Promise<string> {
  const schema = emptied.pop() ?? newSchema()
  t.teardown(async () => {
    if (!t.passing()) return t.comment(`kept PostgreSQL schema ${schema}`)
    await onPostgres((client) => empty(client, schema))
    emptied.push(schema)
    if (!droppedAtLast) process.once('beforeExit', () => drop(emptied.splice(0)))
    droppedAtLast = true
  })
  return urlOf(schema)
}

async function empty (client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> \'_prisma_migrations\'', [schema])
  await client.query(rows.map(({ name }) => `DELETE FROM "${schema}"."${name}"`).join(';'))
}

async function drop (schemas: readonly string[]): Promise<void> {
  await onPostgres(async (client) => {
    for (const schema of schemas) await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  })
}

function newSchema (): string {
  return `test_${randomBytes(6).toString('hex')}`
}

function urlOf (schema: string): string {
  const url = new URL(postgresUrl)
  url.searchParams.set('schema', schema)
  // Whether what is written outlives a crash of the machine is PostgreSQL's own matter.
  url.searchParams.set('options', '-c synchronous_commit=off')
  return url.toString()
}

async function whyNoPostgres (): Promise<string | false> {
  try {
    await onPostgres((client) => client.query('SELECT 1'))
    return false
  } catch (error) {
    const reason = `no PostgreSQL at ${postgresUrl.replace(/:[^:@/]*@/, ':***@')}; start one: ${startPostgres}`
    if (process.env.TEST_REQUIRE_SERVICES === '1') throw new Error(reason, { cause: error })
    return reason
  }
}

async function onPostgres (work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl, connectionTimeoutMillis: 2_000 })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
