import { readFile } from 'node:fs/promises'
import t from 'tap'
import { errorCodes } from '../../src/errors.ts'

t.test('docs/errors.md lists every error code with its status and whether a retry can help', async (t) => {
  const page = await readFile('docs/errors.md', 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \| (yes|no) \| \S.* \|$/gm)]
  const documented = rows.map(([, code = '', status, retryable]) => [code, { status: Number(status), retryable: retryable === 'yes' }])
  t.strictSame(documented, Object.entries(errorCodes))
})
