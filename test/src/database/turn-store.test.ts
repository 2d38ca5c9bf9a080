import t from 'tap'
import { turnStoreContract } from '../../contracts/turn-store.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the turn store on ${provider}`, { skip }, async (t) => {
    turnStoreContract(t, async (t) => openTestDatabase(t, await testDatabaseUrl(t, provider)))
  })
}
