import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

interface Row { readonly section: string, readonly tests: ReadonlyArray<{ readonly file: string, readonly name: string }> }
interface Feature { readonly name: string, readonly file: string, readonly find: string, readonly replace: string, readonly test: Row['tests'][number], readonly runBy?: string }

const load = async <T>(name: string) => await import(new URL(`../../scripts/${name}.mjs`, import.meta.url).href) as T
const { readFeatures } = await load<{ readFeatures: (page: string) => readonly Row[] }>('feature-table')
const { featuresToDisable } = await load<{ featuresToDisable: readonly Feature[] }>('features-to-disable')
const { outcomeOf, turnedOff } = await load<{ outcomeOf: (lines: readonly string[], name: string) => object, turnedOff: (source: string, feature: Pick<Feature, 'file' | 'find' | 'replace'>) => string }>('proof')

const rows = readFeatures(readFileSync('docs/agents/features.md', 'utf8'))

t.test('each feature of the sample can still be turned off', async (t) => {
  const faults = featuresToDisable.flatMap((feature) => {
    const times = readFileSync(feature.file, 'utf8').split(feature.find).length - 1
    return times === 1 && feature.replace !== feature.find ? [] : [`${feature.name}: ${times} times in ${feature.file}`]
  })
  t.strictSame(faults, [])
  t.equal(new Set(featuresToDisable.map(({ name }) => name)).size, featuresToDisable.length, 'each has a name of its own')
})

t.test('what must notice is a test of docs/agents/features.md', async (t) => {
  const named = new Set(rows.flatMap(({ tests }) => tests.map(({ file, name }) => `${file}: ${name}`)))
  const unknown = featuresToDisable.filter(({ test, runBy }) => !named.has(`${test.file}: ${test.name}`) || (runBy !== undefined && !existsSync(runBy)))
  t.strictSame(unknown.map(({ name }) => name), [])
})

t.test('the sample has something of every part of the page', async (t) => {
  t.ok(featuresToDisable.length >= 20)
  const noticed = new Set(featuresToDisable.map(({ test }) => `${test.file}: ${test.name}`))
  const sections = new Set(rows.map(({ section }) => section))
  for (const section of sections) t.ok(rows.some((row) => row.section === section && row.tests.some(({ file, name }) => noticed.has(`${file}: ${name}`))), section)
})

t.test('a feature is turned off where its text is there exactly once', async (t) => {
  const feature = { file: 'a.ts', find: 'x > 1', replace: '$& true' }
  t.equal(turnedOff('if (x > 1) y()', feature), 'if ($& true) y()')
  for (const source of ['if (x > 2) y()', 'x > 1 && x > 1']) t.throws(() => turnedOff(source, feature), { message: /a\.ts has this text [02] times and not once/ })
})

t.test('a proof looks at the named test, wherever it is nested', async (t) => {
  const lines = ['# Subtest: f', '    # Subtest: one', '        ok 1 - two', '        not ok 2 - three', '    not ok 1 - one # time=3.5ms', '    ok 2 - four # time=0.1ms', 'not ok 1 - f # time=9ms']
  t.strictSame(['one', 'two', 'three', 'four', 'five'].map((name) => outcomeOf(lines, name)), [
    { state: 'failed', passed: 1, failed: 0 }, { state: 'passed', passed: 0, failed: 1 }, { state: 'failed', passed: 1, failed: 0 }, { state: 'passed', passed: 0, failed: 1 }, { state: 'missing', passed: 0, failed: 0 }
  ])
})
