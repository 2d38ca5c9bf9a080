// Runs test files, all of them unless some are named: a line for each file that passed, everything for one that failed,
// and the numbers of tests last.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { root } from './build-output.mjs'
import { runTestFiles } from './test-processes.mjs'

const generated = spawnSync(process.execPath, [join(root, 'scripts/generate.mjs'), '--if-needed'], { stdio: 'inherit' })
if (generated.status !== 0) process.exit(generated.status ?? 1)

const named = process.argv.slice(2).map((path) => resolve(path))
const files = (named.length > 0 ? named : [join(root, 'test')]).flatMap(testFiles)
const totals = { passed: 0, failed: 0, skipped: 0 }
// One more than there are cores: tests of whole processes mostly wait for them.
await runTestFiles(files, { jobs: Math.min(availableParallelism() + 1, files.length), onFile: report })
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed > 0 ? 1 : 0

/** Those of a folder, or the file itself; one that does not exist fails like a test. */
function testFiles (path) {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  return readdirSync(path, { recursive: true }).filter((name) => name.endsWith('.test.ts')).sort().map((name) => join(path, name))
}

function report ({ name, passed, failed, skips, lines, seconds }) {
  totals.passed += passed
  totals.failed += failed
  totals.skipped += skips.length
  if (failed > 0) console.log(lines.map((line) => line.slice(0, 1_000)).join('\n'))
  console.log(`${failed > 0 ? 'FAILED' : 'ok'} ${name}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ''} (${seconds} s)`)
  for (const reason of new Set(skips)) console.log(`  skipped: ${reason}`)
}
