import t from 'tap'
import { storageUnavailable } from '../../../src/errors.ts'
import { createCheckpointer, type CheckpointSource } from '../../../src/runs/checkpointer.ts'
import type { TurnStore } from '../../../src/runs/turn-store.ts'
import { routeCheckpoints } from '../../../src/storage/routed-checkpointer.ts'
import { alice, holder, startTurn, text, type Turn } from '../../contracts/turns.ts'
import { until } from '../../helpers/app.ts'
import { openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'
import { loggedService } from '../../helpers/logged.ts'

t.test('runs are saved where their threads are, and a storage that is away takes its own runs along and no others', async (t) => {
  const database = await openTestDatabase(t, await testDatabaseUrl(t))
  const archive = await openTestDatabase(t, 'file::memory:')
  const away: TurnStore = { ...database.turns, checkpoint: async () => { throw storageUnavailable('away') } }
  const [kept, archived] = [await startTurn(database, alice, 'kept-1', 'q'), await startTurn(archive, alice, 'archived-1', 'q')]
  const places = new Map([[kept.runId, database.turns], [archived.runId, archive.turns]])
  const turnsOf = (runId: string) => places.get(runId) ?? away
  const checkpointer = routeCheckpoints({ ...database.turns, turnsOf }, (turns) => createCheckpointer({ turns, holder, log: loggedService().log, everyMs: 5, patienceMs: 50 }))
  t.teardown(() => checkpointer.close())
  const failed: string[] = []
  const source = ({ runId, answerId: messageId }: Turn): CheckpointSource => ({
    runId,
    snapshot: () => ({ runId, messageId, processingMs: 0, parts: text('said so far') }),
    characters: () => 0,
    onLost: () => { failed.push(`${runId} lost`) },
    onFailure: () => { failed.push(runId) }
  })
  checkpointer.touch(source({ runId: 'of-one-away', userId: 'u', answerId: 'a' }))
  checkpointer.touch(source({ runId: 'forgotten', userId: 'u', answerId: 'a' }))
  checkpointer.forget('forgotten')
  for (const turn of [kept, archived]) checkpointer.touch(source(turn))
  for (const [{ turns }, { runId }] of [[database, kept], [archive, archived]] as const) await until('it is saved', async () => JSON.stringify(await turns.messageOfRun(runId)).includes('said so far'))
  await until('the patience is over', () => failed.length > 0)
  t.strictSame(failed, ['of-one-away'])
})
