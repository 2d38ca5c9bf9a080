import { join, sqltag as sql } from '@prisma/client/runtime/client'
import type { Test } from 'tap'
import type { Driver } from '../../src/database/executor.ts'
import { isUniqueViolation } from '../../src/database/failures.ts'

/** What every Driver does, on a database with the service's tables. */
export function driverContract (t: Test, open: (t: Test) => Promise<Driver>): void {
  t.test('dates, booleans, numbers, texts and nothing come back as they were given', async (t) => {
    const driver = await open(t)
    await addThread(driver, 'typed', { archived: true, createdAt: new Date('2026-03-29T01:30:00.120Z') })
    const [row] = await driver.query<object>(sql`SELECT t.id, t.title, t.archived, t."lastPosition", t."createdAt", t."lastMessageAt", count(*) AS number FROM "Thread" t WHERE t.key = 'typed'
      GROUP BY t.key`)
    t.strictSame(row, { id: 'typed', title: null, archived: true, lastPosition: 7, createdAt: new Date('2026-03-29T01:30:00.120Z'), lastMessageAt: null, number: 1 })
  })

  t.test('times are compared as times, to the millisecond', async (t) => {
    const driver = await open(t)
    for (const [key, ms] of [['a', 0], ['b', 999], ['c', 1_000]] as const) await addThread(driver, key, { createdAt: new Date(Date.UTC(2026, 0, 1) + ms) })
    const rows = await driver.query<{ key: string }>(sql`SELECT key FROM "Thread" WHERE "createdAt" > ${new Date(Date.UTC(2026, 0, 1))} ORDER BY "createdAt" DESC`)
    t.strictSame(rows.map(({ key }) => key), ['c', 'b'])
  })

  t.test('a statement tells how many rows it changed', async (t) => {
    const driver = await open(t)
    await addThread(driver, 'one')
    await addThread(driver, 'two')
    t.equal(await driver.execute(sql`UPDATE "Thread" SET title = ${'new'}`), 2)
    t.equal(await driver.execute(sql`DELETE FROM "Thread" WHERE key = 'three'`), 0)
  })

  t.test('a transaction is kept whole or undone whole, and gives what its work gave', async (t) => {
    const driver = await open(t)
    t.equal(await driver.transaction(async (tx) => {
      await addThread(tx, 'kept')
      return 'given'
    }), 'given')
    await t.rejects(driver.transaction(async (tx) => {
      await addThread(tx, 'undone')
      throw new Error('changed my mind')
    }), { message: 'changed my mind' })
    t.strictSame(await keys(driver), ['kept'])
  })

  t.test('a statement that fails undoes its transaction, and the next one works', async (t) => {
    const driver = await open(t)
    await addThread(driver, 'taken')
    const failure = await driver.transaction(async (tx) => { await Promise.all([addThread(tx, 'new'), addThread(tx, 'taken', { id: 'other-id' }), addThread(tx, 'other')]) })
      .then(() => undefined, (error: unknown) => error)
    t.ok(isUniqueViolation(failure, { fields: ['key'], index: 'Thread_pkey' }))
    t.notOk(isUniqueViolation(failure, { fields: ['id'], index: 'Message_pkey' }), 'of this constraint and no other')
    await addThread(driver, 'after')
    t.strictSame(await keys(driver), ['after', 'taken'])
  })

  t.test('what others do meanwhile is not part of a transaction', async (t) => {
    const driver = await open(t)
    const beside: Promise<unknown>[] = []
    await t.rejects(driver.transaction(async (tx) => {
      await addThread(tx, 'inside')
      beside.push(addThread(driver, 'beside'), driver.transaction((other) => addThread(other, 'another')))
      throw new Error('undo')
    }), { message: 'undo' })
    await Promise.all(beside)
    t.strictSame(await keys(driver), ['another', 'beside'])
  })

  t.test('many at once, and statements of any length, all come through', async (t) => {
    const driver = await open(t)
    await Promise.all(Array.from({ length: 60 }, (_, index) => driver.transaction((tx) => addThread(tx, `many-${index}`))))
    for (const length of [1, 39, 41, 60]) {
      const wanted = Array.from({ length }, (_, index) => `many-${index}`)
      t.equal((await driver.query(sql`SELECT key FROM "Thread" WHERE key IN (${join(wanted)})`)).length, length)
    }
  })
}

interface Columns { readonly id?: string, readonly archived?: boolean, readonly createdAt?: Date }

function addThread (executor: Pick<Driver, 'execute'>, key: string, { id = key, archived = false, createdAt = new Date() }: Columns = {}): Promise<number> {
  return executor.execute(sql`INSERT INTO "Thread" (key, id, "tenantId", "ownerId", "agentId", metadata, archived, "lastPosition", "createdAt", "updatedAt", "activeAt")
    VALUES (${key}, ${id}, 'tenant', 'owner', 'agent', '{}', ${archived}, ${7}, ${createdAt}, ${createdAt}, ${createdAt})`)
}

async function keys (driver: Driver): Promise<string[]> {
  return (await driver.query<{ key: string }>(sql`SELECT key FROM "Thread" ORDER BY key`)).map(({ key }) => key)
}
