import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { rssKb, startLoad, startParley, startServer, stop } from './processes.mjs'
const folder = mkdtempSync('/tmp/popen-')
const floor = process.argv.includes('--floor')
const upstream = await startServer('upstream.mjs')
const models = ['burst:200', 'paced:50:20', 'paced:100000:1000', 'burst:1']
const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
const env = { UPSTREAM_URL: upstream.url, BENCH_MODELS: models.join(','), DATA_DIR: join(folder, 'd'), PARLEY_CONFIG: new URL('parley.config.mjs', import.meta.url).pathname, LOG_LEVEL: 'info', OPENAI_API_KEY: '', NODE_OPTIONS: '--expose-gc --import=/tmp/gc.mjs' }
const { spawn } = await import('node:child_process')
const server = floor ? 'bench/floor.mjs' : 'dist/src/server.js'
const child = spawn(process.execPath, ['--expose-gc', '--import=/tmp/gc.mjs', server], { env: { ...process.env, ...env, NODE_OPTIONS: '', HOST: '127.0.0.1', PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe', ...(floor ? ['ipc'] : [])] })
const url = await new Promise((resolve) => { if (floor) child.on('message', (m) => m.port && resolve(`http://127.0.0.1:${m.port}`)); let log = ''; child.stdout.on('data', (p) => { log += p; const f = /Server listening at (http:[^"]+)/.exec(log); if (f) resolve(f[1]); if (log.length > 1e5) log = '' }) })
let err = ''
child.stderr.on('data', (p) => { err += p })
const mem = async () => { err = ''; child.kill('SIGUSR2'); while (!err.includes('}')) await sleep(50); return JSON.parse(err.slice(err.indexOf('{'), err.indexOf('}') + 1)) }
const load = startLoad()
const at = (n) => floor ? { url: `${url}/chat`, model: models[n] } : { url: `${url}/api/chat`, agentId: `bench-${n}` }
await load.run('chats', { ...at(3), concurrent: 16, total: 1000 })
const a = await mem()
const holder = startLoad()
const { open } = await holder.run('hold', { ...at(2), count: 500, settleMs: 3000 })
const b = await mem()
console.log(open, Object.keys(a).map((k) => `${k} ${((b[k] - a[k]) / open / 1024).toFixed(1)}`).join(', '))
stop(holder, load, upstream); child.kill('SIGKILL')
