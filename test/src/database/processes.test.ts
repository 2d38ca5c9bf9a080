import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { alice } from '../../contracts/turns.ts'
import { availableProviders, emptyDatabaseUrl, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`a database of several processes on ${provider}`, { skip }, async (t) => {
    t.test('comes up in two processes at once, and both write to it', { timeout: 60_000 }, async (t) => {
      const url = await emptyDatabaseUrl(t, provider)
      const children = [start(t, url, ['thread-a-1', 'thread-a-2']), start(t, url, ['thread-b-1', 'thread-b-2'])]
      t.strictSame(await Promise.all(children.map(report)), ['ready', 'ready'])
      await Promise.all(children.map(stop))
      const database = await openTestDatabase(t, url)
      t.equal((await database.turns.runningRuns()).length, 4)
    })

    t.test('has the user’s message after its process was killed', { timeout: 60_000 }, async (t) => {
      const url = await testDatabaseUrl(t, provider)
      const child = start(t, url, ['killed-1'])
      t.equal(await report(child), 'ready')
      child.kill('SIGKILL')
      await once(child, 'exit')
      const database = await openTestDatabase(t, url)
      t.match((await database.threads.history(alice, 'killed-1', { limit: 9 }))?.items, [{ role: 'user', parts: [{ text: 'question of killed-1' }] }])
    })
  })
}

function start (t: Test, url: string, threadIds: readonly string[]): ChildProcess {
  const child = fork(fileURLToPath(import.meta.resolve('../../helpers/database-process.ts')), [url, ...threadIds])
  t.teardown(() => { child.kill('SIGKILL') })
  return child
}

async function report (child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}

async function stop (child: ChildProcess): Promise<void> {
  child.send('stop')
  await once(child, 'exit')
}
