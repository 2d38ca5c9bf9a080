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
 * The databases tests run on. Without a PostgreSQL its tests are skipped with the command that starts one, or fail when
 * TEST_REQUIRE_SERVICES=1.
 */
export async function availableProviders (): Promise<readonly Availability[]> {
  return [{ provider: 'sqlite', skip: false }, { provider: 'postgresql', skip: await whyNoPostgres() }]
}

/** A new, empty database; TEST_DATABASE chooses which kind where the test does not. A test that fails keeps it. */
export async function testDatabaseUrl (t: Test, provider: TestProvider = defaultProvider()): Promise<string> {
  return provider === 'sqlite' ? freshFile(t) : freshSchema(t)
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
  const schema = `test_${randomBytes(6).toString('hex')}`
  t.teardown(async () => {
    if (t.passing()) await onPostgres((client) => client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`))
    else t.comment(`kept PostgreSQL schema ${schema}`)
  })
  const url = new URL(postgresUrl)
  url.searchParams.set('schema', schema)
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
