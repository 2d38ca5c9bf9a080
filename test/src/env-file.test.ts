import t from 'tap'
import { loadEnvFile } from '../../src/env-file.ts'

t.test('.env of the folder fills the environment and never overrides it', async (t) => {
  t.teardown(() => { for (const name of ['PARLEY_TEST_A', 'PARLEY_TEST_B']) delete process.env[name] })
  process.env['PARLEY_TEST_A'] = 'real'
  const folder = t.testdir({ '.env': '# a comment\nPARLEY_TEST_A=file\nPARLEY_TEST_B="from the file"\n' })
  t.match(loadEnvFile(folder), /\.env$/)
  t.equal(process.env['PARLEY_TEST_A'], 'real')
  t.equal(process.env['PARLEY_TEST_B'], 'from the file')
})

t.test('a folder without .env is fine', async (t) => {
  t.equal(loadEnvFile(t.testdir({})), undefined)
})
