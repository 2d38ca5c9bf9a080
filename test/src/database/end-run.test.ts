import pg from 'pg'
import t from 'tap'
import { alice, endOf, holder, startTurn, text } from '../../contracts/turns.ts'
import { until } from '../../helpers/app.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

const [, postgresql] = await availableProviders()

t.test('a checkpoint that waits for the end of its run changes nothing of what the run ended with', { skip: postgresql?.skip ?? false }, async (t) => {
  const url = await testDatabaseUrl(t, 'postgresql')
  const { turns, threads } = await openTestDatabase(t, url)
  const database = { turns } as Parameters<typeof startTurn>[0] // all that it uses
  const turn = await startTurn(database, alice, 'overtaken-1', 'q')
  const options = `-c search_path=${new URL(url).searchParams.get('schema')}`
  const [holding, watching] = [new pg.Client({ connectionString: url, options }), new pg.Client({ connectionString: url })]
  t.teardown(() => Promise.all([holding.end(), watching.end()]))
  await Promise.all([holding.connect(), watching.connect()])
  const { rows: [{ pid }] } = await holding.query('SELECT pg_backend_pid() AS pid')
  // Those behind the one that holds the row, and those behind them.
  const queue = `WITH RECURSIVE behind (pid) AS (SELECT ${pid} UNION SELECT a.pid FROM pg_stat_activity a JOIN behind b ON b.pid = ANY (pg_blocking_pids(a.pid))) SELECT count(*)::int - 1 AS length FROM behind`
  const wait = (length: number) => until(`${length} wait`, async () => (await watching.query(queue)).rows[0].length === length)

  await holding.query('BEGIN')
  await holding.query('SELECT 1 FROM "Message" WHERE id = $1 FOR UPDATE', [turn.answerId])
  const ended = turns.finish(holder, endOf(turn, 'the whole answer'))
  await wait(1)
  const saved = turns.checkpoint(holder, [{ runId: turn.runId, messageId: turn.answerId, parts: text('the whole') }])
  await wait(2)
  await holding.query('COMMIT')
  t.equal(await ended, true)
  t.strictSame(await saved, [turn.runId])
  t.strictSame((await threads.history(alice, 'overtaken-1', { limit: 1 }))?.items[0]?.parts, text('the whole answer'))
})
