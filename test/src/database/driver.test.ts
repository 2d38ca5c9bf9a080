import { sqltag as sql } from '@prisma/client/runtime/client'
import t, { type Test } from 'tap'
import type { Connection } from '../../../src/database/client.ts'
import { translate } from '../../../src/database/failures.ts'
import { migrate, readMigrations } from '../../../src/database/migrator.ts'
import { openPostgresql } from '../../../src/database/postgresql.ts'
import { openSqlite } from '../../../src/database/sqlite.ts'
import { driverContract } from '../../contracts/driver.ts'
import { availableProviders, emptyDatabaseUrl, type TestProvider } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the driver on ${provider}`, { skip }, async (t) => {
    driverContract(t, async (t) => (await connect(t, provider)).driver)

    t.test('it writes what Prisma reads, and reads what Prisma writes', async (t) => {
      const { client, driver } = await connect(t, provider)
      const at = new Date('2026-07-01T22:15:30.456Z')
      const thread = { key: 'prisma', id: 'thread-1', tenantId: 'tenant', ownerId: 'owner', agentId: 'agent', metadata: '{}', archived: true, createdAt: at, updatedAt: at, activeAt: at }
      await client.thread.create({ data: thread })
      t.strictSame(await driver.query(sql`SELECT t.archived, t."createdAt" FROM "Thread" t WHERE t."createdAt" = ${at}`), [{ archived: true, createdAt: at }])
      await driver.execute(sql`UPDATE "Thread" SET archived = ${false}, "activeAt" = ${new Date(0)}`)
      t.match(await client.thread.findFirst({ where: { activeAt: new Date(0) } }), { archived: false, activeAt: new Date(0), createdAt: at })
    })

    t.test('Prisma’s transactions and its own wait for each other', async (t) => {
      const { client, driver } = await connect(t, provider)
      const touch = sql`UPDATE "Thread" SET title = ${'touched'}`
      const undo = async () => { throw new Error('undo') }
      const results = await Promise.allSettled([
        client.$transaction(async (tx) => { await tx.$executeRaw(touch); await undo() }),
        driver.transaction(async (tx) => { await tx.execute(touch); await undo() }),
        client.$transaction(async (tx) => await tx.$executeRaw(touch)),
        driver.execute(touch)
      ])
      t.strictSame(results.map((result) => result.status === 'fulfilled' ? result.value : (result.reason as Error).message), ['undo', 'undo', 0, 0])
    })

    t.test('once closed, it says that the store is not there', async (t) => {
      const { driver, close } = await connect(t, provider, { closed: true })
      await close()
      const failure = await driver.query(sql`SELECT 1`).then(() => undefined, translate)
      t.match(failure, { code: 'storage_unavailable' })
      await t.rejects(driver.transaction(async (tx) => await tx.query(sql`SELECT 1`)))
    })
  })
}

async function connect (t: Test, provider: TestProvider, { closed = false } = {}): Promise<Connection> {
  const url = await emptyDatabaseUrl(t, provider)
  const connection = provider === 'sqlite' ? openSqlite(url) : openPostgresql(url, { onConnectionError: () => {} })
  if (!closed) t.teardown(() => connection.close())
  await migrate(connection.migrations, await readMigrations(provider))
  return connection
}
