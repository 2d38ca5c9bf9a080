import { spawn, spawnSync } from 'node:child_process'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './build-output.mjs'
import { createTapResults } from './tap-results.mjs'

const args = process.argv.slice(2)
const tap = join(createRequire(import.meta.url).resolve('tap/package.json'), '../dist/esm/run.mjs')

const generated = spawnSync(process.execPath, [join(root, 'scripts/generate.mjs'), '--if-needed'], { stdio: 'inherit' })
if (generated.status !== 0) process.exit(generated.status ?? 1)

const interactive = process.stdout.isTTY === true || args.some((arg) => /^(-R|--reporter)/.test(arg))
const { code, totals } = await (interactive ? runForPerson() : runForLog())
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = code

/** tap's own reporter on the terminal; the raw results go to a file and are counted afterwards. */
async function runForPerson () {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tap-'))
  try {
    const file = join(folder, 'results.tap')
    const code = await ended(spawnTap(['--output-file', file, ...args], 'inherit'))
    return { code, totals: await readResults(createReadStream(file), createTapResults()) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One line for each file that passed, everything for one that failed. */
async function runForLog () {
  const child = spawnTap(['--reporter', 'tap', ...args], ['ignore', 'pipe', 'inherit'])
  const done = ended(child)
  const totals = await readResults(child.stdout, createTapResults({ onFile: report }))
  return { code: await done, totals }
}

async function readResults (input, { push, end, totals }) {
  for await (const line of createInterface({ input })) push(line)
  end()
  return totals
}

function report ({ name, passed, failed, skips, lines }) {
  if (failed > 0) console.log(lines.join('\n'))
  console.log(`${failed > 0 ? 'FAILED' : 'ok'} ${name}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`)
  for (const reason of new Set(skips)) console.log(`  skipped: ${reason}`)
}

function spawnTap (tapArgs, stdio) {
  const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('test-loader.mjs', import.meta.url).href}`.trim()
  return spawn(process.execPath, [tap, ...tapArgs], { cwd: root, stdio, env: { ...process.env, NODE_OPTIONS } })
}

function ended (child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => { resolve(code ?? 1) })
  })
}
