import { PrismaLibSql } from '@prisma/adapter-libsql'
import { PrismaPg } from '@prisma/adapter-pg'
import t, { type Test } from 'tap'
import { applyMigrations, createSchemaEngine, diff, readMigrations as readForEngine, readSchema } from '../../../scripts/schema-engine.mjs'
import { migrate, readMigrations, type Migration } from '../../../src/database/migrator.ts'
import { openPostgresql } from '../../../src/database/postgresql.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import type { Connection, Provider } from '../../../src/database/client.ts'
import { availableProviders, emptyDatabaseUrl, postgresUrl } from '../../helpers/databases.ts'

const emptyMigration = /This is an empty migration/

for (const { provider, skip } of await availableProviders()) {
  t.test(`migrations on ${provider}`, { skip }, async (t) => {
    t.test('are applied in order, once, and recorded', async (t) => {
      const { connection } = await open(t, provider)
      const migrations = await readMigrations(provider)
      t.strictSame(await migrate(connection.migrations, migrations), migrations.map(({ name }) => name))
      t.strictSame(await migrate(connection.migrations, migrations), [])
      t.match(await records(connection), migrations.map(({ name, checksum }) => ({ migration_name: name, checksum, applied_steps_count: 1, rolled_back_at: null })))
    })

    t.test('lead exactly to prisma/schema', async (t) => {
      const { connection, url } = await open(t, provider)
      await migrate(connection.migrations, await readMigrations(provider))
      const schema = await readSchema(provider)
      t.match(await drift(provider, url, schema), emptyMigration)
      const files = schema.files.map(({ path, content }) => ({ path, content: content.replace('model Rating {', 'model Rating {\n  mood String?') }))
      t.match(await drift(provider, url, { files }), /ADD COLUMN\s+"mood" TEXT/, 'and a model that goes ahead of them is noticed')
    })

    t.test('are done for Prisma too', async (t) => {
      const { connection, url } = await open(t, provider)
      await migrate(connection.migrations, await readMigrations(provider))
      const engine = await createSchemaEngine(adapterOf(provider, url), await readSchema(provider))
      t.strictSame(await applyMigrations(engine, await readForEngine(provider)), [])
      engine.free()
    })

    t.test('are done when Prisma did them', async (t) => {
      const { connection, url } = await open(t, provider)
      // Makes the schema, which the engine expects.
      await migrate(connection.migrations, [])
      const engine = await createSchemaEngine(adapterOf(provider, url), await readSchema(provider))
      const migrations = await readMigrations(provider)
      t.strictSame(await applyMigrations(engine, await readForEngine(provider)), migrations.map(({ name }) => name))
      engine.free()
      t.strictSame(await migrate(connection.migrations, migrations), [])
    })

    t.test('that fail leave nothing, and those before them stay', async (t) => {
      const { connection } = await open(t, provider)
      const good = migration('1_good', 'CREATE TABLE one (id INTEGER);')
      const bad = migration('2_bad', 'CREATE TABLE two (id INTEGER); CREATE TABLE one (id INTEGER);')
      await t.rejects(migrate(connection.migrations, [good, bad]), /one/)
      t.match(await records(connection), [{ migration_name: '1_good' }])
      const mended = migration('2_bad', 'CREATE TABLE two (id INTEGER);')
      t.strictSame(await migrate(connection.migrations, [good, mended]), ['2_bad'])
    })

    t.test('that were edited after they were applied, or are recorded as failed, stop everything', async (t) => {
      const { connection } = await open(t, provider)
      const first = migration('1_first', 'CREATE TABLE one (id INTEGER);')
      const second = migration('2_second', 'CREATE TABLE two (id INTEGER);')
      await migrate(connection.migrations, [first])
      await t.rejects(migrate(connection.migrations, [{ ...first, checksum: 'other' }, second]), { code: 'configuration_error', message: /1_first was changed/ })
      await connection.migrations.exclusively((sql) => sql.script('UPDATE _prisma_migrations SET finished_at = NULL'))
      await t.rejects(migrate(connection.migrations, [first, second]), { code: 'configuration_error', message: /1_first is recorded as failed/ })
      await connection.migrations.exclusively((sql) => sql.script('UPDATE _prisma_migrations SET rolled_back_at = CURRENT_TIMESTAMP; DROP TABLE one'))
      t.strictSame(await migrate(connection.migrations, [first, second]), ['1_first', '2_second'], 'one that was rolled back is applied again')
    })

    t.test('of a newer version are left alone', async (t) => {
      const { connection } = await open(t, provider)
      await migrate(connection.migrations, [migration('9_newer', 'CREATE TABLE newer (id INTEGER);')])
      t.strictSame(await migrate(connection.migrations, [migration('1_first', 'CREATE TABLE one (id INTEGER);')]), ['1_first'])
    })
  })
}

t.test('replacing a table on SQLite keeps the rows that refer to it, and a broken reference is refused', async (t) => {
  const { connection } = await open(t, 'sqlite')
  const tables = migration('1_tables', 'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER REFERENCES a (id) ON DELETE CASCADE); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);')
  const replaced = migration('2_replaced', 'CREATE TABLE new_a (id INTEGER PRIMARY KEY); INSERT INTO new_a SELECT id FROM a; DROP TABLE a; ALTER TABLE new_a RENAME TO a;')
  await migrate(connection.migrations, [tables, replaced])
  t.match(await connection.migrations.exclusively((sql) => sql.rows('SELECT count(*) AS n FROM b', [])), [{ n: 1 }])
  await t.rejects(migrate(connection.migrations, [tables, replaced, migration('3_broken', 'DELETE FROM a;')]), /foreign key of table b/)
  t.match(await connection.migrations.exclusively((sql) => sql.rows('SELECT count(*) AS n FROM a', [])), [{ n: 1 }])
})

async function open (t: Test, provider: Provider): Promise<{ connection: Connection, url: string }> {
  const url = await emptyDatabaseUrl(t, provider)
  const connection = provider === 'sqlite' ? openSqlite(url) : openPostgresql(url, { onConnectionError: () => {} })
  t.teardown(() => connection.close())
  return { connection, url }
}

function adapterOf (provider: Provider, url: string) {
  return provider === 'sqlite' ? new PrismaLibSql({ url }) : new PrismaPg({ connectionString: postgresUrl, options: `-c search_path=${schemaOf(url)}` }, { schema: schemaOf(url) })
}

function schemaOf (url: string): string {
  return new URL(url).searchParams.get('schema') ?? 'public'
}

async function drift (provider: Provider, url: string, schema: Awaited<ReturnType<typeof readSchema>>): Promise<string> {
  const engine = await createSchemaEngine(adapterOf(provider, url), schema)
  const sql = await diff(engine, { tag: 'schemaDatasource', ...schema, configDir: '.' }, { tag: 'schemaDatamodel', ...schema })
  engine.free()
  return sql
}

function migration (name: string, script: string): Migration {
  return { name, script, checksum: `checksum of ${name}` }
}

function records (connection: Connection): Promise<readonly Record<string, unknown>[]> {
  return connection.migrations.exclusively((sql) => sql.rows('SELECT * FROM _prisma_migrations ORDER BY migration_name', []))
}
