import t, { type Test } from 'tap'
import { createGroupCommit } from '../../../src/database/group-commit.ts'
import { openSqliteConnection, type SqliteConnection, type SqliteStatement } from '../../../src/database/sqlite-connection.ts'
import { createSqliteGate } from '../../../src/database/sqlite-gate.ts'

t.test('what begins together is committed together, and in order', async (t) => {
  const { connection, transaction, said } = open(t)
  t.strictSame(await Promise.all(['a', 'b', 'c'].map((name) => transaction(async (execute) => execute(insert(name)).rowsAffected))), [1, 1, 1])
  t.strictSame(namesIn(connection), ['a', 'b', 'c'])
  t.strictSame(said, ['BEGIN', 'COMMIT'])
})

t.test('one that throws undoes itself alone, wherever it stands', async (t) => {
  const { connection, transaction } = open(t)
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => transaction(async (execute) => {
    execute(insert(name))
    if (name === 'a' || name === 'd') throw new Error(`not ${name}`)
    if (name === 'b') execute(insert('c'))
    return name
  })))
  t.strictSame(results.map((result) => result.status === 'fulfilled' ? result.value : (result.reason as Error).message), ['not a', 'b', 'UNIQUE constraint failed: names.name', 'not d'])
  t.strictSame(namesIn(connection), ['b', 'c'])
})

t.test('where the commit fails, all fail, and nothing is kept', async (t) => {
  const { connection, transaction, said } = open(t, { commit: () => { throw new Error('the disk is full') } })
  const results = await Promise.allSettled(['a', 'b'].map((name) => transaction(async (execute) => { execute(insert(name)) })))
  t.strictSame(results.map((result) => result.status === 'rejected' && (result.reason as Error).message), ['the disk is full', 'the disk is full'])
  t.strictSame(namesIn(connection), [])
  t.equal(connection.inTransaction, false)
  t.strictSame(said, ['BEGIN', 'COMMIT', 'ROLLBACK'])
})

t.test('where even undoing fails, all are told why the group failed, and the next one is let in', async (t) => {
  const { transaction } = open(t, { commit: () => { throw new Error('the disk is full') }, rollback: () => { throw new Error('the disk is gone') } })
  const results = await Promise.allSettled(['a', 'b'].map((name) => transaction(async (execute) => { execute(insert(name)) })))
  t.strictSame(results.map((result) => result.status === 'rejected' && (result.reason as Error).message), ['the disk is full', 'the disk is full'])
  await t.rejects(transaction(async () => {}), 'it is told, and does not wait for ever')
})

t.test('where everything was undone under one of them, all fail', async (t) => {
  const { connection, transaction } = open(t)
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => transaction(async (execute) => {
    execute(insert(name))
    if (name === 'b') {
      connection.rollback()
      throw new Error('the database undid it')
    }
  })))
  t.strictSame(results.map((result) => result.status === 'rejected' && (result.reason as Error).message), Array.from({ length: 3 }, () => 'the database undid it'))
  t.strictSame(namesIn(connection), [])
})

t.test('one that is alone needs no savepoint', async (t) => {
  const { connection, transaction } = open(t)
  await t.rejects(transaction(async (execute) => { execute(insert('a')); throw new Error('no') }), { message: 'no' })
  t.equal(await transaction(async (execute) => { execute(insert('b')); return 'yes' }), 'yes')
  t.strictSame(namesIn(connection), ['b'])
})

function open (t: Test, broken: Partial<SqliteConnection> = {}) {
  const said: string[] = []
  const connection = openSqliteConnection(':memory:')
  t.teardown(() => { connection.close() })
  connection.script('CREATE TABLE names (name TEXT PRIMARY KEY)')
  const gate = createSqliteGate({
    ...connection,
    begin: () => { said.push('BEGIN'); connection.begin() },
    commit: () => { said.push('COMMIT'); (broken.commit ?? connection.commit)() },
    rollback: () => { said.push('ROLLBACK'); connection.rollback() },
    get inTransaction () { return connection.inTransaction }
  })
  return { connection, transaction: createGroupCommit(gate), said }
}

function insert (name: string): SqliteStatement {
  return { sql: 'INSERT INTO names VALUES (?)', args: [name] }
}

function namesIn (connection: SqliteConnection): unknown[] {
  return connection.execute({ sql: 'SELECT name FROM names ORDER BY rowid', args: [] }).rows.flat()
}
