import { readFile } from 'node:fs/promises'
import t from 'tap'

interface Report { readonly lanes: Record<string, object>, readonly rounds: number, readonly loadBefore: number }

interface Profile { readonly lane: string, readonly areas: ReadonlyArray<{ readonly area: string, readonly share: number }> }

const { performanceDocument } = await import(new URL('../../bench/report.mjs', import.meta.url).href) as { performanceDocument: (report: Report, profile: Profile) => string }

const read = async <T>(name: string) => JSON.parse(await readFile(new URL(`../../bench/${name}`, import.meta.url), 'utf8')) as T
const report = await read<Report>('report.json')
const profile = await read<Profile>('profile.json')

t.test('the page about performance is that of the last report, which has every lane', async (t) => {
  t.strictSame(Object.keys(report.lanes), ['burst', 'paced50', 'paced200', 'herd50', 'open', 'turn', 'crew', 'history'])
  t.equal(await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8'), performanceDocument(report, profile), 'npm run bench:report')
})

t.test('the page says what was missed', async (t) => {
  const slow = performanceDocument({ ...report, lanes: { turn: { parley: { cpuMsPerTurn: 2.5, turnsPerSecond: 100, firstDeltaP50Ms: 9 } } } }, profile)
  t.match(slow, /stored turn \| at most 2 \| 2\.50 \| \*\*missed\*\*/)
  t.notMatch(slow, /pages/)
})

t.test('the profile behind the page leaves nothing out', async (t) => {
  t.equal(profile.lane, 'burst')
  t.ok(Math.abs(profile.areas.reduce((sum, { share }) => sum + share, 0) - 1) < 0.001)
})
