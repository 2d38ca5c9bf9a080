import { fork } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './build-output.mjs'
import { createTapResults } from './tap-results.mjs'

const limitMs = 180_000
// A new process now and then: what tests leave behind in one must not add up.
const filesPerProcess = 30

/**
 * Runs test files in `jobs` processes at a time, each of which takes the next file when it is done with one. `onFile` gets
 * the results of each file. A file whose process died or took too long counts as failed, and the rest goes on in a new one.
 */
export async function runTestFiles (files, { jobs, onFile }) {
  const waiting = [...files]
  await Promise.all(Array.from({ length: jobs }, async () => {
    while (waiting.length > 0) await runInOneProcess(waiting, onFile)
  }))
}

async function runInOneProcess (waiting, onFile) {
  const started = []
  const reported = new Set()
  const results = createTapResults({ onFile: (file) => { reported.add(file.name); onFile(file) } })
  const child = fork(new URL('run-test-files.mjs', import.meta.url), {
    cwd: root, execArgv: ['--enable-source-maps', '--import=tsx/esm'], stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  const exited = once(child, 'exit')
  let late = false
  const limit = setTimeout(() => { late = child.kill('SIGKILL') }, limitMs)
  const next = () => {
    const file = started.length < filesPerProcess ? waiting.shift() : undefined
    if (file === undefined) return child.disconnect()
    started.push(relative(root, file))
    child.send(file)
    limit.refresh()
  }
  // tsx sends messages of its own.
  child.on('message', (message) => { if (message === 'done') next() })
  next()
  for await (const line of createInterface({ input: child.stdout })) results.push(line)
  const unfinished = results.end()
  const [code, signal] = await exited
  clearTimeout(limit)
  const lost = started.filter((name) => !reported.has(name))
  const reason = late ? `it takes longer than ${limitMs / 1000} s` : `its process ended with ${signal ?? code}`
  for (const name of lost) onFile(failed(name, [...unfinished, `${name} did not end: ${reason}`]))
  // A process that some test keeps alive says so itself.
  if (lost.length === 0 && code !== 0 && results.totals.failed === 0) onFile(failed(started.at(-1), [`The process of ${started.join(', ')} ended with ${signal ?? code}`]))
}

function failed (name, lines) {
  return { name, lines, seconds: '-', passed: 0, failed: 1, skips: [] }
}
