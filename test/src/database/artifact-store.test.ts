import t from 'tap'
import { artifactStoreContract } from '../../contracts/artifact-store.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`the artifact store on ${provider}`, { skip }, async (t) => {
    artifactStoreContract(t, async (t) => openTestDatabase(t, await testDatabaseUrl(t, provider)))
  })
}
