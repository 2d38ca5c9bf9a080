import { readFile } from 'node:fs/promises'
import t from 'tap'

interface Report { readonly lanes: Record<string, object>, readonly rounds: number, readonly loadBefore: number }

const { performanceDocument } = await import(new URL('../../bench/report.mjs', import.meta.url).href) as { performanceDocument: (report: Report) => string }

t.test('the page about performance is that of the last report, which has every lane', async (t) => {
  const report = JSON.parse(await readFile(new URL('../../bench/report.json', import.meta.url), 'utf8')) as Report
  t.strictSame(Object.keys(report.lanes), ['burst', 'paced50', 'paced200', 'herd50', 'open', 'turn', 'history'])
  t.equal(await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8'), performanceDocument(report), 'npm run bench:report')
})

t.test('the page says what was missed', async (t) => {
  const report = JSON.parse(await readFile(new URL('../../bench/report.json', import.meta.url), 'utf8')) as Report
  const slow = performanceDocument({ ...report, lanes: { turn: { parley: { cpuMsPerTurn: 2.5, turnsPerSecond: 100, firstDeltaP50Ms: 9 } } } })
  t.match(slow, /stored turn \| at most 2 \| 2\.50 \| \*\*missed\*\*/)
  t.notMatch(slow, /pages/)
})
