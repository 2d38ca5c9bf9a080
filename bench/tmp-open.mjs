import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { rssKb, startLoad, startParley, startServer, stop } from './processes.mjs'
const execArgv = (process.env.ARGV ?? '').split(' ').filter(Boolean)
const snap = process.env.SNAP === '1'
const folder = mkdtempSync('/tmp/popen-')
const upstream = await startServer('upstream.mjs')
const models = ['burst:200', 'paced:50:20', 'paced:100000:1000', 'burst:1']
const rounds = Number(process.env.ROUNDS ?? 1)
const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
for (let r = 0; r < rounds; r++) {
  const env = { UPSTREAM_URL: upstream.url, BENCH_MODELS: models.join(','), DATA_DIR: join(folder, String(r)), PARLEY_CONFIG: new URL('parley.config.mjs', import.meta.url).pathname, LOG_LEVEL: 'info', OPENAI_API_KEY: '' }
  const target = await startParley(env, { execArgv: [...execArgv, ...(snap ? ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`] : [])] })
  const load = startLoad()
  await load.run('chats', { url: `${target.url}/api/chat`, agentId: 'bench-3', concurrent: 16, total: 1000 })
  if (snap) { target.child.kill('SIGUSR2'); await sleep(6000) }
  const before = rssKb(target)
  const holder = startLoad()
  const { open } = await holder.run('hold', { url: `${target.url}/api/chat`, agentId: 'bench-2', count: 500, settleMs: 3000 })
  const after = rssKb(target)
  console.log(`before ${before} KB, after ${after} KB, per stream ${((after - before) / open).toFixed(1)} KB of ${open}`)
  if (snap) { target.child.kill('SIGUSR2'); await sleep(9000); console.log(folder, readdirSync(folder).join(' ')) }
  stop(holder, load, target)
}
stop(upstream)
