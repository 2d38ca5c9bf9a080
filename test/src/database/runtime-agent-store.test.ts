import t from 'tap'
import { runtimeAgentStoreContract } from '../../contracts/runtime-agent-store.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the store of runtime agents on ${provider}`, { skip }, async (t) => {
    runtimeAgentStoreContract(t, async (t) => openTestDatabase(t, await testDatabaseUrl(t, provider)))
  })
}
