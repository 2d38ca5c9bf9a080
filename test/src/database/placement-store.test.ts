import t from 'tap'
import { placementsContract } from '../../contracts/placements.ts'
import { availableProviders, openTestDatabase, testDatabaseUrl } from '../../helpers/databases.ts'

for (const { provider, skip } of await availableProviders()) {
  t.test(`placements on ${provider}`, { skip }, async (t) => {
    placementsContract(t, async (t) => (await openTestDatabase(t, await testDatabaseUrl(t, provider))).placements)
  })
}
