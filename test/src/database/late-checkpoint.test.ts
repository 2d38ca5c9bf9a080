import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { alice, holder, startTurn, text } from '../../contracts/turns.ts'
import { openTestDatabase, postgresUrl, skipWithoutPostgresql, testDatabaseUrl } from '../../helpers/databases.ts'

const skip = await skipWithoutPostgresql()

// On SQLite only one writes at a time, so that nothing can be late.
t.test('a checkpoint that had to wait for the end of its run does not overwrite what the end has stored', { skip }, async (t) => {
  const url = await testDatabaseUrl(t, 'postgresql')
  const database = await openTestDatabase(t, url)
  const { runId, answerId: messageId } = await startTurn(database, alice, 'late-checkpoint', 'q')
  const ending = new pg.Client({ connectionString: postgresUrl, options: `-c search_path=${new URL(url).searchParams.get('schema')}` })
  await ending.connect()
  t.teardown(() => ending.end())

  await ending.query('BEGIN')
  await ending.query('UPDATE "Run" SET status = \'completed\' WHERE id = $1', [runId])
  await ending.query('UPDATE "Message" SET status = \'completed\', parts = $1 WHERE id = $2', [JSON.stringify(text('the whole answer')), messageId])
  const lost = database.turns.checkpoint(holder, [{ runId, messageId, parts: text('the whole'), processingMs: 5 }])
  await waitsForLock(ending)
  await ending.query('COMMIT')

  t.strictSame(await lost, [runId])
  const { rows } = await ending.query('SELECT parts FROM "Message" WHERE id = $1', [messageId])
  t.strictSame(JSON.parse(rows[0].parts), text('the whole answer'))
})

async function waitsForLock (client: pg.Client): Promise<void> {
  const waiting = () => client.query('SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))')
  while ((await waiting()).rowCount === 0) await sleep(5)
}
