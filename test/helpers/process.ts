import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string, readonly level?: number }

/** What a process may take at most on a machine that is busy with other tests. */
export const patienceMs = 30_000

export interface Exit { readonly code: number | null, readonly signal: NodeJS.Signals | null }

export interface Service {
  readonly url: string
  readonly pid: number
  /** What it has logged so far. */
  readonly log: readonly LogLine[]
  /** Processor time it took to listen: what a start costs, however busy the machine is. */
  readonly startCostMs: number
  kill: (signal: NodeJS.Signals) => void
  readonly exited: Promise<Exit>
  readonly hasExited: () => boolean
  /** Resident memory now. */
  memory: () => Promise<number>
}

export interface ServiceOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Builds once what the tests of processes run. */
export function ensureBuilt (): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`The service could not be built:\n${stderr}`)
}

/** A folder of a deployment: its configuration and, by default, its data. A test that fails keeps it. */
export async function deployment (t: Test, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-process-'))
  t.teardown(async () => {
    if (t.passing()) await rm(folder, { recursive: true, force: true })
    else t.comment(`kept ${folder}`)
  })
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

/** The built service as a process of its own on a free port; resolves when it listens. Ends with the test. */
export async function startService (t: Test, options: ServiceOptions): Promise<Service> {
  const child = launch(t, ['dist/src/server.js'], options)
  const log: LogLine[] = []
  const errors: string[] = []
  const exited = exitOf(child)
  createInterface({ input: child.stderr! }).on('line', (line) => { errors.push(line) }) // both are pipes, see launch
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then(({ code }) => { reject(new Error(`The service ended with ${code}: ${errors.join('\n')}`)) })
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const entry = JSON.parse(line) as LogLine
      log.push(entry)
      const address = /listening at (\S+)/.exec(entry.msg ?? '')?.[1]
      if (address !== undefined) resolve(address)
    })
  })
  const pid = child.pid! // it has started
  return {
    url, pid, log, exited,
    startCostMs: await processorTime(pid),
    kill: (signal) => { child.kill(signal) },
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    memory: async () => Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  }
}

export interface Ended extends Exit { readonly stdout: string, readonly stderr: string }

/** Runs the service where it is expected not to start, or another script of the package, to its end. */
export async function runToEnd (t: Test, options: ServiceOptions & { readonly args?: readonly string[] }): Promise<Ended> {
  const child = launch(t, options.args ?? ['dist/src/server.js'], options)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name]?.setEncoding('utf8').on('data', (text: string) => { texts[name] += text })
  return { ...await exitOf(child), ...texts }
}

async function processorTime (pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10 // user and system, in ticks of a hundredth of a second
}

/** Without the environment of the test runner: only what the test says. */
function launch (t: Test, [script = '', ...args]: readonly string[], { cwd, env = {} }: ServiceOptions): ChildProcess {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}

async function exitOf (child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'close') as [number | null, NodeJS.Signals | null]
  return { code, signal }
}
