// The given test files as subtests of one test, each in a process of its own: TAP on standard output. Without tap's own
// runner and its compiler: they cost each process several times what the tests in it do.
import { relative } from 'node:path'
import t from 'tap'
import { root } from './build-output.mjs'

const timeoutMs = 120_000

t.jobs = 2
t.setTimeout(0) // only files have a limit
for (const file of process.argv.slice(2)) {
  t.spawn(process.execPath, ['--enable-source-maps', '--import=tsx/esm', file], { cwd: root, timeout: timeoutMs, buffered: true }, relative(root, file))
}
