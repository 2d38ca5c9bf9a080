// npm run bench:profile: where the time of a burst goes, written to bench/profile.json for docs/performance.md.
//   npm run bench:profile -- [file.cpuprofile]   reads one that is there instead of making it
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoad, startParley, startServer, stop } from './processes.mjs'

const lane = 'burst'
const warmRounds = 4
const functionsShown = 3

/** By file, the first that matches; what V8 and Node do without JavaScript has a name and no file. */
const areas = [
  ['collecting garbage', /^\(garbage collector\)/],
  ['database', /libsql|@prisma|sql-template|dist\/src\/database/],
  ['asking the model and reading it', /\/(undici|openai)\/|dist\/src\/models|^wasm|GenericJSToWasmWrapper|js-to-wasm/],
  ['sockets', /^(write\w*|shutdown|readStart) $/],
  ['writing the stream', /dist\/src\/(protocols|streams)/],
  ['running, recording and keeping events', /dist\/src\/(runtime|runs|messages|events|threads)/],
  ['logs and measurements', /pino|sonic-boom|prom-client|dist\/src\/metrics|request-log|plugins\/metrics/],
  ['taking requests', /fastify|find-my-way|zod|secure-json-parse|node:_http|dist\/(plugins|routes|src)/],
  ['Node: promises, timers, streams, the rest', /./]
]

const [given] = process.argv.slice(2)
const { profile, skippedUs } = given === undefined ? await record() : { profile: JSON.parse(readFileSync(given, 'utf8')), skippedUs: 0 }
const summary = { date: new Date().toISOString(), node: process.version, lane, areas: summarise(profile, skippedUs) }
writeFileSync(new URL('profile.json', import.meta.url), `${JSON.stringify(summary, null, 2)}\n`)
for (const { area, share, functions } of summary.areas) console.log(`${(share * 100).toFixed(1).padStart(5)} % ${area}: ${functions.map(({ name }) => name).join(', ')}`)

/** A profile of the service from its start, and how much of it was before it was warm, in microseconds. */
async function record () {
  const folder = mkdtempSync(join(tmpdir(), 'parley-profile-'))
  const upstream = await startServer('upstream.mjs')
  const load = startLoad()
  try {
    const env = { UPSTREAM_URL: upstream.url, BENCH_MODELS: 'burst:200', DATA_DIR: folder, PARLEY_CONFIG: new URL('parley.config.mjs', import.meta.url).pathname, LOG_LEVEL: 'info', OPENAI_API_KEY: '' }
    const begun = performance.now()
    const service = await startParley(env, { execArgv: ['--cpu-prof', '--cpu-prof-interval=250', `--cpu-prof-dir=${folder}`] })
    const round = () => load.run('chats', { url: `${service.url}/api/chat`, agentId: 'bench-0', concurrent: 16, total: 320 })
    for (let warm = 0; warm < warmRounds; warm++) await round()
    const skippedUs = (performance.now() - begun) * 1000
    for (let counted = 0; counted < 2; counted++) await round()
    // Asked to end, it writes the profile.
    service.child.kill('SIGTERM')
    await once(service.child, 'exit')
    return { profile: JSON.parse(readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.cpuprofile'))), 'utf8')), skippedUs }
  } finally {
    stop(upstream, load)
    rmSync(folder, { recursive: true, force: true })
  }
}

function summarise ({ nodes, samples, timeDeltas }, skippedUs) {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]))
  const groups = new Map(areas.map(([area]) => [area, new Map()]))
  let elapsed = 0
  let total = 0
  samples.forEach((id, index) => {
    elapsed += timeDeltas[index]
    const { functionName, url } = nodeOf.get(id).callFrame
    if (elapsed < skippedUs || functionName === '(idle)') return
    const group = groups.get(areas.find(([, pattern]) => pattern.test(`${functionName} ${url}`) || pattern.test(url))[0])
    const name = nameOf(functionName, url)
    group.set(name, (group.get(name) ?? 0) + timeDeltas[index])
    total += timeDeltas[index]
  })
  return Array.from(groups, ([area, group]) => ({ area, share: sum(group.values()) / total, functions: largest(group, total) }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
}

/** The function and its file, without where that is on this machine. */
function nameOf (functionName, url) {
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, '').replace(/^node:/, '')
  return [functionName === '' ? '(anonymous)' : functionName, file].filter((part) => part !== '').join(' ')
}

function largest (group, total) {
  return [...group].sort(([, a], [, b]) => b - a).slice(0, functionsShown).map(([name, time]) => ({ name, share: time / total }))
}

function sum (values) {
  return [...values].reduce((total, value) => total + value, 0)
}
