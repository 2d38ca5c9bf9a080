// Does what the Dockerfile says in an empty temporary folder, without a container engine, and uses what comes out: builds
// every stage, starts the last one as its CMD says, waits for its HEALTHCHECK, chats, reads the history, and ends it.
// What it cannot show: the base image, its user by name, and the limits of a container.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from './build-output.mjs'
import { createIgnore, parseDockerfile } from './dockerfile.mjs'

const patienceMs = 60_000
// The user `node` of the base image; only root can become another.
const user = process.getuid() === 0 ? { uid: 1000, gid: 1000 } : {}
const work = mkdtempSync(join(tmpdir(), 'parley-image-'))
chmodSync(work, 0o755)

try {
  const stages = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  const ignored = createIgnore(readFileSync(join(root, '.dockerignore'), 'utf8'))
  const built = new Map()
  for (const stage of stages) built.set(stage.name, buildStage(stage, built, ignored))
  const image = built.get(stages.at(-1).name)
  assertSound(image)
  await use(image)
  console.log('The image does what it should.')
} catch (error) {
  console.error(`The image does not: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

function buildStage ({ base, name, instructions }, built, ignored) {
  const begun = Date.now()
  const parent = built.get(base)
  const stage = { ...parent, folder: join(work, name), env: { ...parent?.env }, workdir: parent?.workdir ?? '/', user: parent?.user }
  mkdirSync(stage.folder)
  if (parent !== undefined) copyTree(`${parent.folder}/.`, stage.folder)
  for (const instruction of instructions) replay(stage, instruction, built, ignored)
  console.log(`${name}: ${((Date.now() - begun) / 1000).toFixed(1)} s`)
  return stage
}

function replay (stage, instruction, built, ignored) {
  switch (instruction.name) {
    case 'WORKDIR':
      stage.workdir = instruction.path
      mkdirSync(inside(stage, ''), { recursive: true })
      break
    case 'ENV': Object.assign(stage.env, instruction.variables); break
    case 'COPY': copy(stage, instruction, built, ignored); break
    case 'RUN': execute(stage, instruction.command); break
    case 'CMD': stage.command = instruction.command; break
    case 'HEALTHCHECK': stage.healthcheck = instruction.command; break
    case 'USER': stage.user = instruction.user; break
    case 'STOPSIGNAL': stage.stopSignal = instruction.signal; break
    case 'VOLUME': stage.volume = instruction.path; break
    default: // EXPOSE changes nothing.
  }
}

/** Paths from the root are the stage's own; its users do not exist here. The network is reached the way it is from here. */
function execute (stage, command) {
  const { NODE_ENV, ...surroundings } = process.env
  const local = command.replace(/(^|\s)\/(?=\w)/g, `$1${stage.folder}/`)
  run('sh', ['-c', `chown () { :; }; ${local}`], { cwd: inside(stage, ''), env: { ...surroundings, ...stage.env, NPM_CONFIG_PREFER_OFFLINE: 'true' } })
}

function copy (stage, { from, sources, destination }, built, ignored) {
  for (const source of sources) {
    if (from === undefined) copyInto(stage, join(root, source), destination, { toFolder: sources.length > 1 || destination.endsWith('/'), ignored })
    else copyFromStage(join(built.get(from).folder, source), inside(stage, destination))
  }
}

function copyFromStage (source, target) {
  if (!existsSync(source)) throw new Error(`COPY: an earlier stage has no ${relative(work, source)}`)
  mkdirSync(dirname(target), { recursive: true })
  copyTree(source, target)
}

/** A folder is copied by its content, and a file under its own name where the destination is a folder. */
function copyInto (stage, source, destination, { toFolder, ignored }) {
  if (!existsSync(source)) throw new Error(`COPY: there is no ${relative(root, source)}`)
  const files = filesOf(source).filter((file) => !ignored(relative(root, file)))
  if (files.length === 0) throw new Error(`COPY: .dockerignore leaves out all of ${relative(root, source)}`)
  for (const file of files) {
    const name = file === source ? (toFolder ? basename(file) : '') : relative(source, file)
    const to = join(inside(stage, destination), name)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(file, to)
  }
}

function filesOf (path) {
  try {
    return readdirSync(path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path]
    throw error
  }
}

/** By links: stages share what no later one changes in place. */
function copyTree (from, to) {
  run('cp', ['-al', from, to], {})
}

function inside ({ folder, workdir }, path) {
  return path.startsWith('/') ? join(folder, path) : join(folder, workdir, path)
}

function run (command, args, options) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${status}\n${stdout}${stderr}`)
}

function assertSound (image) {
  const { folder, env, user: name, volume, stopSignal, command, healthcheck } = image
  const faults = [
    [name === undefined || name === 'root', 'it runs as root'],
    [stopSignal !== 'SIGTERM', 'it is not stopped by SIGTERM'],
    [command === undefined || healthcheck === undefined, 'it has no CMD or no HEALTHCHECK'],
    [command?.[0] === 'npm' || healthcheck?.[0] === 'npm', 'npm is run in it'],
    [env.HOST !== '0.0.0.0' || env.DATA_DIR !== volume, 'HOST or DATA_DIR is not that of a container'],
    [existsSync(inside(image, 'src')) || existsSync(inside(image, 'test')), 'it holds sources'],
    ...developmentPackages().map((name) => [existsSync(inside(image, `node_modules/${name}`)), `it holds ${name}, which is for development`]),
    [filesOf(folder).some((file) => /\/\.env$|\.log$/.test(file) && !file.includes('/node_modules/')), 'it holds .env or logs']
  ]
  const wrong = faults.filter(([is]) => is).map(([, fault]) => fault)
  if (wrong.length > 0) throw new Error(wrong.join('; '))
}

/** Those that nothing else brings. */
function developmentPackages () {
  return ['typescript', 'tap', 'eslint', 'prisma', 'neostandard']
}

async function use (image) {
  const port = await freePort()
  const data = join(work, 'volume')
  mkdirSync(data)
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid)
  const env = { PATH: process.env.PATH, ...image.env, PORT: String(port), DATA_DIR: data, AUTH_ALLOW_ANONYMOUS: 'true', OFFLINE_WORD_DELAY_MS: '0', LOG_LEVEL: 'warn' }
  const [program, ...args] = image.command
  const service = spawn(program, args, { cwd: inside(image, ''), env, stdio: ['ignore', 'inherit', 'inherit'], ...user })
  const exited = once(service, 'exit')
  try {
    await healthy(image, env, service)
    await converse(`http://127.0.0.1:${port}`)
    service.kill(image.stopSignal)
    const [code, signal] = await Promise.race([exited, sleep(patienceMs, ['no end'], { ref: false })])
    if (code !== 0) throw new Error(`after ${image.stopSignal} it ended with ${code ?? signal}`)
    if (!existsSync(join(data, 'parley.db'))) throw new Error('its data is not in DATA_DIR')
  } finally {
    service.kill('SIGKILL')
  }
}

async function healthy ({ healthcheck: [program, ...args], ...image }, env, service) {
  const begun = Date.now()
  while (spawnSync(program, args, { cwd: inside(image, ''), env, ...user }).status !== 0) {
    if (service.exitCode !== null) throw new Error(`it ended with ${service.exitCode}`)
    if (Date.now() - begun > patienceMs) throw new Error('its HEALTHCHECK does not pass')
    await sleep(100)
  }
  console.log(`healthy after ${Date.now() - begun} ms`)
}

async function converse (url) {
  const messages = `${url}/v1/threads/thread-image/messages`
  const chat = await fetch(messages, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ text: 'Hello, who are you?' }) })
  const stream = await chat.text()
  if (!stream.includes('"type":"text-delta"') || !stream.endsWith('data: [DONE]\n\n')) throw new Error(`it did not answer: ${chat.status} ${stream}`)
  const { items } = await (await fetch(messages)).json()
  const roles = items.map(({ role }) => role).join()
  if (roles !== 'user,assistant') throw new Error(`its history is not the conversation: ${roles}`)
  console.log('chatted, and read the history')
}

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
