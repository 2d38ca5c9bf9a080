// The built service against the floor, interleaved, medians of rounds: see docs/performance.md.
//   npm run bench -- [--rounds=5] [--only=burst,turn,...] [--json=file]
// BENCH_DATABASE_URL chooses another database than a new SQLite file. Exits with 2 when a target is missed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMs, rssKb, startLoad, startParley, startServer, stop } from './processes.mjs'
import { judge } from './targets.mjs'

const lanes = { burst, paced50: () => paced(50), paced200: () => paced(200), herd50: () => paced(50, { spreadMs: 0 }), open, turn, crew, history }
const { rounds, only, json } = options(process.argv.slice(2))
// A service runs for weeks: until it has answered some thousand times, the compiler costs as much as the work.
const warmRounds = 4
const models = ['burst:200', 'paced:50:20', 'paced:100000:1000', 'burst:1']
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
const report = { date: new Date().toISOString(), machine: machine(), versions: versions(), rounds, warmRounds, loadBefore: loadavg()[0], lanes: {} }
const upstream = await startServer('upstream.mjs')
let dataDirs = 0

try {
  for (const name of only) {
    report.lanes[name] = await lanes[name]()
    print(name, report.lanes[name])
    report.loadAfter = loadavg()[0]
    // After every lane: what was measured is kept when the rest is cut short.
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`)
  }
  const verdicts = judge(report)
  for (const { label, value, limit, met } of verdicts) console.log(`${met ? 'met   ' : 'MISSED'} ${label}: ${value.toFixed(2)} (${limit})`)
  process.exitCode = verdicts.every(({ met }) => met) ? 0 : 2
} finally {
  stop(upstream)
  rmSync(folder, { recursive: true, force: true })
}

function options (args) {
  const given = Object.fromEntries(args.map((arg) => /^--([a-z]+)=(.+)$/.exec(arg)?.slice(1) ?? [arg, '']))
  const unknown = [...Object.keys(given).filter((name) => !['rounds', 'only', 'json'].includes(name)), ...(given.only?.split(',') ?? []).filter((name) => !(name in lanes))]
  if (unknown.length > 0 || !(Number(given.rounds ?? 5) >= 1)) {
    console.error(`Usage: npm run bench -- [--rounds=5] [--only=${Object.keys(lanes).join(',')}] [--json=file]`)
    process.exit(1)
  }
  return { rounds: Number(given.rounds ?? 5), only: given.only?.split(',') ?? Object.keys(lanes), json: given.json }
}

function machine () {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, os: `Linux ${release()}` }
}

function versions () {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const database = process.env.BENCH_DATABASE_URL?.startsWith('postgres') === true ? 'pg' : 'libsql'
  return { node: process.version, ...Object.fromEntries(['fastify', 'undici', 'openai', '@prisma/client', database].map((name) => [name, dependencies[name]])) }
}

async function burst () {
  const measure = async (target) => {
    const { result, cpu } = await chats(target, { model: 0, concurrent: 16, total: 320 })
    return { cpuUsPerDelta: cpu * 1000 / result.deltas, deltasPerSecond: result.deltas / result.seconds }
  }
  return await compare(measure)
}

/** Streams of one second. Begun evenly over a second, as people do, or all in the same instant. */
async function paced (concurrent, { spreadMs = 1_000 } = {}) {
  return await compare(async (target) => {
    const { result, cpu } = await chats(target, { model: 1, concurrent, total: concurrent * 4, spreadMs })
    return { firstDeltaP50Ms: quantile(result.firstMs, 0.5), firstDeltaP99Ms: quantile(result.firstMs, 0.99), cpuUsPerDelta: cpu * 1000 / result.deltas }
  })
}

async function open () {
  const streams = 500
  return await compare(async (target) => {
    await target.load.run('chats', { ...addressed(target, 3), concurrent: 16, total: 1_000 })
    const before = rssKb(target)
    const holder = startLoad()
    const { open } = await holder.run('hold', { ...addressed(target, 2), count: streams, settleMs: 3000 })
    const kbPerStream = (rssKb(target) - before) / open
    stop(holder)
    return { kbPerStream, open }
  }, { fresh: true })
}

async function turn () {
  return await rows(async (target) => {
    const { result, cpu } = await chats(target, { model: 3, concurrent: 8, total: 800, turnsPerThread: 4 })
    return { cpuMsPerTurn: cpu / 800, turnsPerSecond: 800 / result.seconds, firstDeltaP50Ms: quantile(result.firstMs, 0.5) }
  })
}

/** All in one process by turns, so that the compiler knows all. */
async function crew () {
  const members = [0, 1, 2, 3].map((index) => `bench-member-${index}`)
  const crewTurns = 80
  const cpuOf = async (target, agentIds, options) => {
    const before = cpuMs(target)
    await target.load.run('chats', { url: `${target.url}/api/chat`, agentIds, ...options })
    return (cpuMs(target) - before) / crewTurns
  }
  return await rows(async (target) => {
    const cpuMsPerCrewTurn = await cpuOf(target, ['bench-crew'], { concurrent: 4, total: crewTurns })
    const cpuMsPerShownTurn = await cpuOf(target, ['bench-crew-full'], { concurrent: 4, total: crewTurns })
    const cpuMsPerFourTurns = await cpuOf(target, members, { concurrent: 16, total: crewTurns * 4 })
    return { cpuMsPerCrewTurn, cpuMsPerShownTurn, cpuMsPerFourTurns, crewOverPlain: cpuMsPerCrewTurn / cpuMsPerFourTurns, shownOverPlain: cpuMsPerShownTurn / cpuMsPerFourTurns }
  })
}

async function history () {
  const lengths = [50, 10_000]
  return await rows(async (target) => {
    const [short, long] = [await page(target, lengths[0]), await page(target, lengths[1])]
    return { pagesPerSecond: short, pagesPerSecondLong: long, shortOverLong: short / long }
  }, { prepare: async (target) => { for (const messages of lengths) await fill(target, messages) } })
}

async function fill (target, messages) {
  const id = `bench-history-${messages}`
  const { url, agentId } = addressed(target, 3)
  for (let index = 0; index < messages / 2; index++) {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id, agentId, messages: [{ role: 'user', parts: [{ type: 'text', text: `Question ${index}` }] }] }) })
    await response.text()
  }
}

async function page (target, messages) {
  const url = `${target.url}/v1/threads/bench-history-${messages}/messages?limit=50`
  const cpu = cpuMs(target)
  const { read } = await target.load.run('pages', { url, concurrent: 4, seconds: 2 })
  return read / ((cpuMs(target) - cpu) / 1000) // per second of one core
}

/** Rounds of the floor and the service in turn; the median of each figure, and the ratio of the medians. */
async function compare (measure, { fresh = false } = {}) {
  const results = { floor: [], parley: [] }
  const targets = fresh ? undefined : { floor: await startFloor(), parley: await startService() }
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['floor', 'parley']) {
      const target = targets?.[kind] ?? await (kind === 'floor' ? startFloor() : startService())
      if (round === 0 && !fresh) await warm(target, measure)
      results[kind].push(await measure(target))
      if (fresh) stop(target, target.load)
    }
  }
  if (targets !== undefined) stop(targets.floor, targets.floor.load, targets.parley, targets.parley.load)
  const floor = medians(results.floor)
  const parley = medians(results.parley)
  return { floor, parley, ratio: Object.fromEntries(Object.keys(floor).map((key) => [key, floor[key] === 0 ? null : parley[key] / floor[key]])) }
}

async function rows (measure, { prepare } = {}) {
  const target = await startService()
  const results = []
  await prepare?.(target)
  await warm(target, measure)
  for (let round = 0; round < rounds; round++) results.push(await measure(target))
  stop(target, target.load)
  return { parley: medians(results) }
}

async function warm (target, measure) {
  for (let round = 0; round < warmRounds; round++) await measure(target)
}

async function startFloor () {
  return { kind: 'floor', load: startLoad(), ...await startServer('floor.mjs', { UPSTREAM_URL: upstream.url }) }
}

async function startService () {
  const env = { UPSTREAM_URL: upstream.url, BENCH_MODELS: models.join(','), DATA_DIR: join(folder, String(dataDirs++)), PARLEY_CONFIG: new URL('parley.config.mjs', import.meta.url).pathname, LOG_LEVEL: 'info', OPENAI_API_KEY: '', ...process.env.BENCH_DATABASE_URL === undefined ? {} : { DATABASE_URL: process.env.BENCH_DATABASE_URL } }
  return { kind: 'parley', load: startLoad(), ...await startParley(env) }
}

function addressed (target, model) {
  return target.kind === 'floor' ? { url: `${target.url}/chat`, model: models[model] } : { url: `${target.url}/api/chat`, agentId: `bench-${model}` }
}

async function chats (target, { model, ...options }) {
  const before = cpuMs(target)
  const result = await target.load.run('chats', { ...addressed(target, model), ...options })
  return { result, cpu: cpuMs(target) - before }
}

function medians (results) {
  return Object.fromEntries(Object.keys(results[0]).map((key) => [key, quantile(results.map((result) => result[key]), 0.5)]))
}

function quantile (values, q) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}

function print (name, lane) {
  console.log(name)
  for (const key of Object.keys(lane.parley)) {
    const compared = lane.floor === undefined ? '' : `  floor ${lane.floor[key].toFixed(2)}  ratio ${lane.ratio[key]?.toFixed(2) ?? '-'}`
    console.log(`  ${key.padEnd(20)} ${lane.parley[key].toFixed(2)}${compared}`)
  }
}
