import { spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import { buildIfNeeded, root } from './build-output.mjs'

const watched = ['src', 'plugins', 'routes', 'agents', 'prisma/schema']
const settleMs = 150

let server
let ending = false
let timer
let queue = Promise.resolve()

for (const folder of watched.filter((folder) => existsSync(join(root, folder)))) {
  watch(join(root, folder), { recursive: true }, (_, name) => {
    // The build writes the generated clients below src itself.
    if (!name?.startsWith(join('database', 'generated'))) soon()
  })
}
watch(root, (_, name) => {
  if (name !== null && /^(parley\.config\..+|\.env|package\.json)$/.test(name)) soon()
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { end(signal) })

enqueue()

/** Editors write in bursts: one restart per burst. */
function soon () {
  clearTimeout(timer)
  timer = setTimeout(enqueue, settleMs)
}

/** One after the other: two servers would fight for the port. */
function enqueue () {
  queue = queue.then(restart)
}

async function restart () {
  try {
    buildIfNeeded()
  } catch (error) {
    console.error(`${error.message}; ${server === undefined ? 'waiting for a change' : 'the last good build keeps running'}`)
    return
  }
  await stop(server, 'SIGTERM')
  if (ending) return
  // Short, so that a reply that is being streamed does not hold the restart.
  const env = { DRAIN_TIMEOUT_MS: '500', ...process.env }
  server = spawn(process.execPath, ['--enable-source-maps', join(root, 'dist/src/server.js')], { stdio: 'inherit', env })
}

async function end (signal) {
  if (ending) return
  ending = true
  clearTimeout(timer)
  await stop(server, signal)
  process.exit()
}

/** Resolves once the child is gone. */
function stop (child, signal) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  return new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill(signal)
  })
}
