// A process with a database of its own, for tests that need two or kill one: opens the URL, begins turns, and reports.
import { openDatabase } from '../../src/database/database.ts'
import { alice, startTurn } from '../contracts/turns.ts'

const [url = '', ...threadIds] = process.argv.slice(2)
try {
  const database = await openDatabase({ url })
  for (const threadId of threadIds) await startTurn(database, alice, threadId, `question of ${threadId}`)
  process.send?.('ready')
  process.once('message', () => { database.close().then(() => process.disconnect(), () => process.exit(1)) })
} catch (error) {
  process.send?.(String(error))
  process.exit(1)
}
