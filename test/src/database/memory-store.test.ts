import t from 'tap'
import { memoryContract, said, thread } from '../../contracts/memory.ts'
import { alice, bob } from '../../contracts/turns.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the memory on ${provider}`, { skip }, async (t) => {
    memoryContract(t, async (t) => {
      const { memories: memory, threads } = await openTestDatabase(t, await testDatabaseUrl(t, provider))
      return { memory, addThread: (principal, id) => threads.create(principal, { id, agentId: 'agent-1' }) }
    })

    t.test('it goes with its thread, also when a thread of that name comes again', async (t) => {
      const { memories, threads } = await openTestDatabase(t, await testDatabaseUrl(t, provider))
      for (const principal of [alice, bob]) {
        await threads.create(principal, { id: 'thread-1', agentId: 'agent-1' })
        await memories.remember({ ...thread, principal }, said('hello'), { version: 'a1', replaces: undefined })
      }
      await threads.remove(alice, 'thread-1')
      t.strictSame(await memories.recall(thread), { messages: [], version: undefined })
      t.equal(await memories.remember(thread, said('late'), { version: 'a2', replaces: 'a1' }), false)
      t.equal(await memories.remember(thread, said('late'), { version: 'a2', replaces: undefined }), false, 'there is no such thread')
      await threads.create(alice, { id: 'thread-1', agentId: 'agent-1' })
      t.strictSame(await memories.recall(thread), { messages: [], version: undefined })
      t.equal(await memories.remember(thread, said('late'), { version: 'a2', replaces: 'a1' }), false, 'it was another thread')
      await threads.removeAll(bob)
      t.strictSame(await memories.recall({ ...thread, principal: bob }), { messages: [], version: undefined })
    })

    t.test('what was remembered is there after a restart', async (t) => {
      const url = await testDatabaseUrl(t, provider)
      const before = await openTestDatabase(t, url)
      await before.threads.create(alice, { id: 'thread-1', agentId: 'agent-1' })
      await before.memories.remember(thread, said('hello'), { version: 'a1', replaces: undefined })
      await before.close()
      const { memories } = await openTestDatabase(t, url)
      t.strictSame(await memories.recall(thread), { messages: said('hello'), version: 'a1' })
    })
  })
}
