import t from 'tap'
import { threadStoreContract } from '../../contracts/thread-store.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the thread store on ${provider}`, { skip }, async (t) => {
    threadStoreContract(t, async (t) => openTestDatabase(t, await testDatabaseUrl(t, provider)))
  })
}
