import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

const passing = `
import t from 'tap'
t.test('adds', async (t) => { t.equal(1 + 1, 2); t.equal(2 + 2, 4) })
t.test('waits for a database', { skip: 'no database here' }, async () => {})
`
const failing = `
import t from 'tap'
t.test('adds', async (t) => { t.equal(1 + 1, 2) })
t.test('adds wrongly', async (t) => { t.equal(1 + 1, 3); t.equal(1 + 1, 4) })
`
const crashing = 'throw new Error(\'crashed on import\')'
const dying = `
import t from 'tap'
t.test('leaves', async () => { process.kill(process.pid, 'SIGKILL') })
`

t.test('a run ends with the numbers of tests that passed and failed, and fails when one did', async (t) => {
  const { code, lines } = await run(t, { 'a.test.ts': passing, 'b.test.ts': failing, 'c.test.ts': crashing })
  t.equal(code, 1)
  t.equal(lines.at(-1), '2 passed, 2 failed')
  t.ok(lines.some((line) => line.includes('not ok 2 - adds wrongly')), 'what failed is shown')
  t.ok(lines.some((line) => line.endsWith('skipped: no database here')), 'why something was skipped is shown')
})

t.test('a run without failures succeeds', async (t) => {
  const { code, lines } = await run(t, { 'a.test.ts': passing })
  t.equal(code, 0)
  t.equal(lines.at(-1), '1 passed, 0 failed')
})

t.test('a file that ends its process fails, and the others go on in a new one', async (t) => {
  const { code, lines } = await run(t, { 'a.test.ts': dying, 'b.test.ts': passing, 'c.test.ts': dying, 'd.test.ts': passing })
  t.equal(code, 1)
  t.equal(lines.at(-1), '2 passed, 2 failed')
  t.equal(lines.filter((line) => line.endsWith('did not end: its process ended with SIGKILL')).length, 2)
})

async function run (t: Test, files: Record<string, string>): Promise<{ code: unknown, lines: string[] }> {
  const folder = t.testdir(files)
  // Without the variables by which the outer run would make the inner one its child.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(_?TAP|NODE_OPTIONS)/.test(name)))
  const child = spawn(process.execPath, ['scripts/test.mjs', ...Object.keys(files).map((name) => `${folder}/${name}`)], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code, lines: output.trim().split('\n') }
}
