import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

interface Row { readonly section: string, readonly rule: string, readonly tests: ReadonlyArray<{ readonly file: string, readonly name: string }> }

const { readFeatures, testsNamed } = await import(new URL('../../scripts/feature-table.mjs', import.meta.url).href) as { readFeatures: (page: string) => readonly Row[], testsNamed: (source: string, name: string) => number }

const page = readFileSync('docs/agents/features.md', 'utf8')
const rows = readFeatures(page)

t.test('every rule of docs/agents/features.md names tests that there are, each by its file and its own name', async (t) => {
  const sources = new Map<string, string>()
  const sourceOf = (file: string) => sources.get(file) ?? (existsSync(file) ? readFileSync(file, 'utf8') : '')
  for (const { file } of rows.flatMap(({ tests }) => tests)) sources.set(file, sourceOf(file))
  const faults = rows.flatMap(({ rule, tests }) => tests.filter(({ file, name }) => testsNamed(sourceOf(file), name) !== 1).map(({ file, name }) => `${rule}: ${file}: ${name}`))
  t.strictSame(faults, [])
})

t.test('no row of docs/agents/features.md is passed over, and no rule is there twice', async (t) => {
  const [proven = ''] = page.split('## Not there yet')
  const lines = proven.split('\n').filter((line) => line.startsWith('| ') && line !== '| rule | proven by |')
  t.equal(rows.length, lines.length)
  t.ok(rows.length > 150, `${rows.length} rows`)
  for (const section of new Set(rows.map((row) => row.section))) {
    const rules = rows.filter((row) => row.section === section).map(({ rule }) => rule)
    t.strictSame(rules, [...new Set(rules)], section)
  }
})

t.test('a name is found as it is spelled, as it is put together, and once', async (t) => {
  const source = 't.test(\'it\\\'s so\', x)\nt.test(`on ${kind}: ${what}`, x)\nconst all = [\'red\', \'blue\']\nt.test("twice", x)\nt.test(\'twice\', x)\nt.test(name, x)\n' // eslint-disable-line no-template-curly-in-string -- source of a test
  const times = (name: string) => testsNamed(source, name)
  t.strictSame(['it\'s so', 'on red: blue', 'on …: blue', 'red'].map(times), [1, 1, 1, 1])
  t.strictSame(['on red: green', 'it is so', 'on red', 'twice'].map(times), [0, 0, 0, 2])
})
