// Runs test files, all of them unless some are named: a line for each file that passed, everything for one that failed,
// and the numbers of tests last.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './build-output.mjs'
import { createTapResults } from './tap-results.mjs'

const generated = spawnSync(process.execPath, [join(root, 'scripts/generate.mjs'), '--if-needed'], { stdio: 'inherit' })
if (generated.status !== 0) process.exit(generated.status ?? 1)

const named = process.argv.slice(2).map((path) => resolve(path))
const files = (named.length > 0 ? named : [join(root, 'test')]).flatMap(testFiles)
const child = spawn(process.execPath, [join(root, 'scripts/run-test-files.mjs'), ...files], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(child, 'close')
const { push, end, totals } = createTapResults({ onFile: report })
for await (const line of createInterface({ input: child.stdout })) push(line)
end()
const [code] = await ended
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = code ?? 1

/** Those of a folder, or the file itself; one that does not exist fails like a test. */
function testFiles (path) {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  return readdirSync(path, { recursive: true }).filter((name) => name.endsWith('.test.ts')).sort().map((name) => join(path, name))
}

function report ({ name, passed, failed, skips, lines, seconds }) {
  if (failed > 0) console.log(lines.join('\n'))
  console.log(`${failed > 0 ? 'FAILED' : 'ok'} ${name}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ''} (${seconds} s)`)
  for (const reason of new Set(skips)) console.log(`  skipped: ${reason}`)
}
