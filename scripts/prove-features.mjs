// Shows that the tests of docs/agents/features.md can fail: turns one feature after the other off, each in a copy of the
// tree, and runs the test that is said to prove it. `npm run prove:features -- word` takes those with the word in their name.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './build-output.mjs'
import { featuresToDisable } from './features-to-disable.mjs'
import { outcomeOf, turnedOff } from './proof.mjs'

const notCopied = new Set(['.git', 'node_modules', 'dist', 'data', 'coverage', '.tap'])
// Of one kind alone: what is proved is the code that both share.
process.env.TEST_DATABASE ??= 'sqlite'

const generated = spawnSync(process.execPath, [join(root, 'scripts/generate.mjs'), '--if-needed'], { stdio: 'inherit' })
if (generated.status !== 0) process.exit(generated.status ?? 1)

const words = process.argv.slice(2)
const waiting = featuresToDisable.filter(({ name }) => words.every((word) => name.includes(word)))
const shown = []
const notShown = []
// What each file of tests says of the tree as it is.
const untouched = new Map()
const copies = new Set()
process.once('exit', () => { for (const folder of copies) rmSync(folder, { recursive: true, force: true }) })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

await Promise.all(Array.from({ length: Math.min(availableParallelism(), 2) }, inACopy))
console.log(`${shown.length} shown, ${notShown.length} not shown`)
process.exitCode = notShown.length > 0 || shown.length === 0 ? 1 : 0

async function inACopy () {
  const folder = copyOfTheTree()
  const { runTestFiles } = await import(pathToFileURL(join(folder, 'scripts/test-processes.mjs')).href)
  const run = async (file) => {
    const lines = []
    await runTestFiles([join(folder, file)], { jobs: 1, onFile: (result) => { lines.push(...result.lines) } })
    return lines
  }
  for (let feature = waiting.shift(); feature !== undefined; feature = waiting.shift()) report(feature, await prove(feature, folder, run))
}

function copyOfTheTree () {
  const folder = mkdtempSync(join(tmpdir(), 'parley-proof-'))
  copies.add(folder)
  for (const name of readdirSync(root)) if (!notCopied.has(name)) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
  return folder
}

/** Why the feature is not shown, or undefined, and what else failed without it. */
async function prove (feature, folder, run) {
  const { test, runBy = test.file } = feature
  const path = join(folder, feature.file)
  const source = readFileSync(path, 'utf8')
  try {
    if (!untouched.has(runBy)) untouched.set(runBy, run(runBy))
    const before = outcomeOf(await untouched.get(runBy), test.name)
    if (before.state !== 'passed') return { problem: `with the feature the test is ${before.state}` }
    writeFileSync(path, turnedOff(source, feature))
    const { state, passed, failed } = outcomeOf(await run(runBy), test.name)
    if (state !== 'failed') return { problem: `without the feature the test is ${state}` }
    if (passed === 0 && failed > 0) return { problem: 'without the feature no test of the file passes, so that this one says nothing' }
    return { problem: undefined, failed }
  } catch (error) {
    return { problem: error.message }
  } finally {
    writeFileSync(path, source)
  }
}

function report ({ name, test }, { problem, failed }) {
  const target = problem === undefined ? shown : notShown
  target.push(name)
  const others = failed > 0 ? ` (and ${failed} more of its file)` : ''
  console.log(problem === undefined ? `shown: ${name}: "${test.name}" fails without it${others}` : `NOT SHOWN: ${name}: ${problem}: "${test.name}" of ${test.file}`)
}
