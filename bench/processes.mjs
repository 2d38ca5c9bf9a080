import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const ticksPerSecond = 100 // of /proc, on every Linux that runs Node
const children = new Set()

// Whatever ends this process ends what it started.
process.once('exit', () => { for (const child of children) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** Starts a script of this folder that reports its port. */
export async function startServer (script, env = {}) {
  const child = start(here(script), { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const { port } = await message(child)
  return { child, url: `http://127.0.0.1:${port}` }
}

/** Starts the built service on a free port, with Node options of its own, and waits until it listens. */
export async function startParley (env, { execArgv = [] } = {}) {
  const child = start(here('../dist/src/server.js'), { execArgv, env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const url = await new Promise((resolve, reject) => {
    let log = ''
    child.stdout.on('data', (piece) => {
      log += piece
      const found = /Server listening at (http:[^"]+)/.exec(log)
      if (found !== null) resolve(found[1])
      if (log.length > 100_000) log = ''
    })
    child.once('exit', () => { reject(new Error(`the service did not start: ${log}`)) })
  })
  return { child, url }
}

export function startLoad () {
  const child = start(here('load.mjs'), {})
  return {
    child,
    run: async (job, options) => {
      child.send({ job, options })
      const { result, error } = await message(child)
      if (error !== undefined) throw new Error(error)
      return result
    }
  }
}

export function stop (...servers) {
  for (const { child } of servers) child.kill('SIGKILL')
}

/** CPU milliseconds a process has used so far, user and system. */
export function cpuMs ({ child }) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 1000 / ticksPerSecond
}

/** Resident kilobytes. */
export function rssKb ({ child }) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1])
}

function start (file, options) {
  const child = fork(file, options)
  children.add(child)
  child.once('exit', () => { children.delete(child) })
  return child
}

function message (child) {
  return new Promise((resolve, reject) => {
    const settle = (act) => (value) => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      act(value)
    }
    const onMessage = settle(resolve)
    const onExit = settle((code) => { reject(new Error(`${child.spawnargs[1]} ended with ${code}`)) })
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}
