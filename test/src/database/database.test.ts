import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sqltag as sql } from '@prisma/client/runtime/client'
import pg from 'pg'
import t from 'tap'
import { openDatabase, type Database } from '../../../src/database/database.ts'
import { openPostgresql } from '../../../src/database/postgresql.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { alice, startTurn, takeTurn } from '../../contracts/turns.ts'
import { availableProviders, emptyDatabaseUrl, openTestDatabase, postgresUrl, skipWithoutPostgresql, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`a database on ${provider}`, { skip }, async (t) => {
    t.test('answers a ping, and keeps what it has over a restart', async (t) => {
      const url = await emptyDatabaseUrl(t, provider)
      const first = await openDatabase({ url })
      await first.ping()
      await takeTurn(first, alice, 'kept-over-restart', 'q', 'a')
      await first.close()
      const second = await openTestDatabase(t, url)
      t.equal((await second.threads.get(alice, 'kept-over-restart'))?.messageCount, 2)
    })

    t.test('is used twice by one process without either waiting for the other for ever', async (t) => {
      const url = await testDatabaseUrl(t, provider)
      const [one, two] = [await openTestDatabase(t, url), await openTestDatabase(t, url)]
      const turns = (database: Database, name: string) => Array.from({ length: 20 }, (_, index) => takeTurn(database, alice, `${name}-${index}`, 'q', 'a'))
      await Promise.all([...turns(one, 'first'), ...turns(two, 'second')])
      t.equal((await one.threads.list(alice, { limit: 100 })).items.length, 40)
    })

    t.test('keeps a statement that was issued while another transaction was open and failed', async (t) => {
      const { threads, turns } = await openTestDatabase(t, await testDatabaseUrl(t, provider))
      const created: Promise<unknown>[] = []
      await t.rejects(turns.begin(alice, 'rolled-back', { contextLimit: 1 }, () => {
        created.push(threads.create(alice, { id: 'independent', agentId: 'agent-1' }))
        return { createThread: { agentId: 'agent-1' }, messages: [brokenMessage], result: 0 }
      }))
      await Promise.all(created)
      t.equal(await threads.get(alice, 'rolled-back'), undefined)
      t.match(await threads.get(alice, 'independent'), { agentId: 'agent-1' })
    })
  })
}

const skip = await skipWithoutPostgresql()
const brokenMessage = { id: 'm1', parentId: 'no-such-parent', role: 'user', parts: [], status: 'completed' } as const

t.test('the folder of a SQLite file is made, and the file keeps foreign keys and WAL in every transaction', async (t) => {
  const path = join(t.testdir({}), 'deep/er/parley.db')
  const connection = openSqlite(`file:${path}`)
  t.teardown(() => connection.close())
  t.ok(existsSync(path))
  const settings = await connection.client.$transaction(async (tx) => {
    await tx.$executeRaw`CREATE TABLE probe (id INTEGER)`
    return [await tx.$queryRaw`PRAGMA foreign_keys`, await tx.$queryRaw`PRAGMA journal_mode`, await tx.$queryRaw`PRAGMA synchronous`]
  })
  t.match(JSON.stringify(settings, (_, value) => typeof value === 'bigint' ? Number(value) : value), '[[{"foreign_keys":1}],[{"journal_mode":"wal"}],[{"synchronous":1}]]')
})

t.test('a URL of another kind is refused with the kinds there are and without its password', async (t) => {
  for (const url of ['mysql://root:hunter2@localhost/x', 'parley.db', 'postgresql://u:hunter2@:::bad']) {
    const error = await openDatabase({ url }).then(() => undefined, (error: Error) => error)
    t.match(error, { code: 'configuration_error' }, url)
    t.match(error?.message, /file:<path> or postgresql:/)
    t.notMatch(error?.message, /hunter2/)
  }
  await t.rejects(openDatabase({ url: 'postgresql://u@localhost/x?schema=a%22b' }), { code: 'configuration_error', message: /schema/ })
})

t.test('a PostgreSQL that does not answer is named without its password, with what starts one', async (t) => {
  const error = await openDatabase({ url: 'postgresql://parley:hunter2@127.0.0.1:9/parley' }).then(() => undefined, (error: Error) => error)
  t.match(error, { code: 'storage_unavailable', message: /^The database at postgresql:\/\/parley:\*\*\*@127\.0\.0\.1:9\/parley is not reachable \(.*ECONNREFUSED.*\)\. .*docker run/ })
  t.notMatch(error?.message, /hunter2|\n/)
})

t.test('a PostgreSQL that has no such database says so', { skip }, async (t) => {
  const url = new URL(postgresUrl)
  url.pathname = '/no_such_database'
  await t.rejects(openDatabase({ url: url.toString() }), { code: 'storage_unavailable', message: /no_such_database is not reachable \(.*does not exist\)/ })
})

t.test('a SQLite file that cannot be opened is named', async (t) => {
  await t.rejects(openDatabase({ url: `file:${t.testdir({ 'a-file': '' })}/a-file/parley.db` }), { code: 'storage_unavailable', message: /a-file\/parley\.db/ })
})

t.test('options in the URL of PostgreSQL are kept beside the schema', { skip }, async (t) => {
  const url = new URL(await testDatabaseUrl(t, 'postgresql'))
  url.searchParams.set('options', '-c statement_timeout=12345')
  const connection = openPostgresql(url.toString(), { onConnectionError: () => {} })
  t.teardown(() => connection.close())
  t.strictSame(await connection.driver.query(sql`SELECT current_setting('statement_timeout') AS timeout, current_setting('search_path') AS path`),
    [{ timeout: '12345ms', path: `"${url.searchParams.get('schema')}"` }])
})

t.test('connections that PostgreSQL cuts are storage_unavailable at worst, and the next ones work', { skip }, async (t) => {
  const url = new URL(await testDatabaseUrl(t, 'postgresql'))
  // Tells this test's connections from those of tests that run beside it.
  const name = url.searchParams.get('schema') ?? ''
  url.searchParams.set('application_name', name)
  const warnings: string[] = []
  const database = await openDatabase({ url: url.toString(), log: { info: () => {}, warn: (_, message) => { warnings.push(message) } } })
  t.teardown(() => database.close())
  await startTurn(database, alice, 'cut-1', 'q')
  await cutConnections(name)
  await poll(async () => (await database.threads.get(alice, 'cut-1').catch((error: unknown) => t.match(error, { code: 'storage_unavailable' }) && undefined)) !== undefined)
  t.ok(warnings.length > 0)
})

async function cutConnections (applicationName: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [applicationName])
  await client.end()
}

async function poll (done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!await done()) if (Date.now() > deadline) throw new Error('not within 10 s')
}
