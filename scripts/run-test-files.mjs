// The given test files as subtests of one test, each in a process of its own: TAP on standard output. Without tap's own
// runner and its compiler: they cost each process several times what the tests in it do.
import { relative } from 'node:path'
import t from 'tap'
import { root } from './build-output.mjs'

const timeoutSeconds = 120
// Said twice: a file gives up by itself, and says what it waited for.
const env = { ...process.env, TAP_TIMEOUT: String(timeoutSeconds) }

t.jobs = 2
t.setTimeout(0) // only files have a limit
for (const file of process.argv.slice(2)) {
  t.spawn(process.execPath, ['--enable-source-maps', '--import=tsx/esm', file], { cwd: root, env, timeout: timeoutSeconds * 1_000, buffered: true }, relative(root, file))
}
