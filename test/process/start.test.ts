import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { getJson, post } from '../helpers/app.ts'
import { deployment, ensureBuilt, runToEnd, startService } from '../helpers/process.ts'

t.setTimeout(300_000)
ensureBuilt()

t.test('it listens after less than 3 seconds of work without any configuration, and says what it serves', async (t) => {
  const service = await startService(t, { cwd: await deployment(t) })
  const limitMs = Math.max(3_000, 4 * packagesCostMs())
  t.ok(service.startCostMs < limitMs, `${service.startCostMs} ms, of ${limitMs} ms`)
  t.match(await getJson(`${service.url}/ready`), { status: 'ready' })
  t.match(await getJson(`${service.url}/v1/agents`), { items: [{ key: 'assistant' }] })
  t.ok(service.log.some(({ msg = '' }) => msg.includes('offline model')))
})

t.test('a second start still has the thread', async (t) => {
  const options = { cwd: await deployment(t), env: { OFFLINE_WORD_DELAY_MS: '0' } }
  const first = await startService(t, options)
  await post(`${first.url}/v1/threads/kept-thread/messages`, { text: 'Remember me' })
  const kept = await getJson(`${first.url}/v1/threads/kept-thread/messages`)
  first.kill('SIGTERM')
  t.match(await first.exited, { code: 0 })
  const second = await startService(t, options)
  t.strictSame(await getJson(`${second.url}/v1/threads/kept-thread/messages`), kept)
})

t.test('a second start still has the agents that were made over HTTP, and talks as they do', async (t) => {
  const config = { agents: [{ key: 'base', abstract: true }, { key: 'other' }], runtimeAgents: { bases: ['base'] }, permissions: { agent: ['allowAll'] } }
  const options = { cwd: await deployment(t, { 'parley.config.json': JSON.stringify(config) }), env: { OFFLINE_WORD_DELAY_MS: '0' } }
  const first = await startService(t, options)
  const { id } = JSON.parse((await post(`${first.url}/v1/runtime-agents`, { base: 'base', name: 'Made' })).body) as { id: string }
  first.kill('SIGTERM')
  t.match(await first.exited, { code: 0 })
  const second = await startService(t, options)
  t.match(await getJson(`${second.url}/v1/runtime-agents/${id}`), { name: 'Made', problem: null })
  t.equal((await post(`${second.url}/v1/threads/made-thread/messages`, { text: 'Hi', agentId: id })).status, 200)
})

t.test('a PostgreSQL that is not there: one line with its address, without its password, and how to start one', async (t) => {
  const ended = await runToEnd(t, { cwd: await deployment(t), env: { DATABASE_URL: 'postgresql://someone:hunter2@127.0.0.1:1/parley' } })
  t.equal(ended.code, 1)
  t.match(ended.stderr, /^parley cannot start: .*postgresql:\/\/someone:\*\*\*@127\.0\.0\.1:1\/parley.*docker run[^\n]*\n$/)
  t.notMatch(ended.stderr + ended.stdout, 'hunter2')
})

t.test('a port in use: one line that names it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const ended = await runToEnd(t, { cwd: await deployment(t), env: { PORT: String(port) } })
  t.equal(ended.code, 1)
  t.match(ended.stderr, new RegExp(`^parley cannot start: [^\\n]*127\\.0\\.0\\.1:${port}[^\\n]*PORT[^\\n]*\\n$`))
})

t.test('a wrong environment is refused with all its problems and none of its values', async (t) => {
  const ended = await runToEnd(t, { cwd: await deployment(t), env: { PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://u:hunter2@x/y' } })
  t.equal(ended.code, 1)
  for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL']) t.match(ended.stderr, new RegExp(`\\b${name}: expected `))
  t.notMatch(ended.stderr, /hunter2|eighty/)
})

t.test('AUTH=none on an address that others can reach is refused unless allowed', async (t) => {
  const cwd = await deployment(t)
  const refused = await runToEnd(t, { cwd, env: { HOST: '0.0.0.0' } })
  t.equal(refused.code, 1)
  t.match(refused.stderr, 'AUTH_ALLOW_ANONYMOUS=true')
  const allowed = await startService(t, { cwd, env: { HOST: '0.0.0.0', AUTH_ALLOW_ANONYMOUS: 'true' } })
  t.ok(allowed.url)
})

const brokenConfig = { 'parley.config.json': JSON.stringify({ agents: [{ key: 'a b' }, { key: 'x', tools: ['missing'] }], defaultAgent: 'nobody' }) }

t.test('a malformed configuration is refused with all its mistakes', async (t) => {
  const ended = await runToEnd(t, { cwd: await deployment(t, brokenConfig) })
  t.equal(ended.code, 1)
  for (const part of ['parley.config.json', 'key:', '"missing"', 'nobody']) t.match(ended.stderr, part)
})

t.test('the command line checks and lists a project without starting it', async (t) => {
  const parley = (cwd: string, ...args: string[]) => runToEnd(t, { cwd, args: ['bin/parley.mjs', ...args] })
  const good = await deployment(t, { 'parley.config.json': JSON.stringify({ agents: [{ key: 'good', name: 'The good one' }] }) })
  const bad = await deployment(t, brokenConfig)
  t.match(await parley(good, 'check'), { code: 0, stdout: /^OK: parley\.config\.json holds 1 agent/ })
  t.match(await parley(bad, 'check'), { code: 1, stdout: '', stderr: /problems found/ })
  t.match(await parley(good, 'agents'), { code: 0, stdout: /good .*The good one/ })
  t.match(await parley(bad, 'agents'), { code: 1 })
  t.match(await parley(good, 'no-such'), { code: 2, stderr: /Unknown command/ })
})

/** Processor time that loading the main packages alone takes: a measure of how fast the machine is at the moment. */
function packagesCostMs (): number {
  const script = "for (const name of ['fastify', 'zod', 'openai', 'undici', '@prisma/client/runtime/client']) await import(name); const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)"
  return Number(spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).stdout)
}
