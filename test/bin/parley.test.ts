import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const built = `
export async function main ({ argv, version, cwd, out, env }) {
  out(JSON.stringify({ argv, version, cwd, named: env.NAMED }))
  return 3
}`
const build = `
import { mkdirSync, writeFileSync } from 'node:fs'
console.log('building', process.argv[2])
mkdirSync(new URL('../dist/src/cli/', import.meta.url), { recursive: true })
writeFileSync(new URL('../dist/src/cli/main.js', import.meta.url), ${JSON.stringify(built)})
writeFileSync(new URL('../dist/src/env-file.js', import.meta.url), "export function loadEnvFile (folder) { process.loadEnvFile(folder + '/.env') }")
`

t.test('the command builds a checkout on demand, reads .env, and passes output and exit code on', async (t) => {
  const folder = layout(t, { scripts: { 'build.mjs': build }, src: { cli: { 'main.ts': '' } } })
  const first = run(folder)
  t.strictSame(JSON.parse(first.stdout), { argv: ['check', 'x.yaml'], version: '4.5.6', cwd: join(folder, 'project'), named: 'from the file' })
  t.match(first.stderr, /^building --if-needed/, 'progress stays out of the output')
  t.equal(first.status, 3)
})

t.test('without sources the command takes what is built', async (t) => {
  const folder = layout(t, { dist: { src: { 'env-file.js': 'export function loadEnvFile () {}', cli: { 'main.js': built } } } })
  const { status, stderr } = run(folder)
  t.equal(stderr, '')
  t.equal(status, 3)
})

t.test('a failed build ends the command with 1', async (t) => {
  const folder = layout(t, { scripts: { 'build.mjs': "console.error('no')\nprocess.exitCode = 7\n" }, src: { cli: { 'main.ts': '' } } })
  t.match(run(folder), { status: 1, stdout: '', stderr: 'no\n' })
})

function layout (t: Test, files: Record<string, object>): string {
  const folder = t.testdir({ 'package.json': '{ "version": "4.5.6", "type": "module" }', project: { '.env': 'NAMED="from the file"\n' }, ...files })
  cpSync('bin/parley.mjs', join(folder, 'bin/parley.mjs'))
  return folder
}

function run (folder: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/parley.mjs'), 'check', 'x.yaml'], { cwd: join(folder, 'project'), encoding: 'utf8', env: { PATH: process.env['PATH'] } })
  return { status, stdout, stderr }
}
