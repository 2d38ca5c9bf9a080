import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { getJson, post, until } from '../helpers/app.ts'
import { deployment, ensureBuilt, patienceMs, startService } from '../helpers/process.ts'

t.setTimeout(300_000)
ensureBuilt()

const config = { 'parley.config.json': JSON.stringify({ agents: [{ key: 'reader', model: 'offline', fileUpload: true, titleGeneration: false }] }) }
const megabyte = 1024 * 1024
const head = (name: string) => `--bnd\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`
const headers = { 'content-type': 'multipart/form-data; boundary=bnd' }

/** One file of so many megabytes, sent as a stream. */
async function send (url: string, name: string, megabytes: number, first = name): Promise<Response> {
  const body = async function * () {
    yield Buffer.from(head(name) + first)
    const chunk = Buffer.alloc(megabyte, 'x')
    for (let sent = 0; sent < megabytes; sent++) yield chunk
    yield Buffer.from('\r\n--bnd--\r\n')
  }
  return await fetch(url, { method: 'POST', body: body(), duplex: 'half', headers } as RequestInit) // Node's own option
}

t.test('uploads up to the limit and far beyond it do not gather in memory, and the service answers meanwhile', async (t) => {
  const service = await startService(t, { cwd: await deployment(t, config), env: { NODE_OPTIONS: '--max-old-space-size=96' } })
  const { id } = JSON.parse((await post(`${service.url}/v1/threads`, {})).body)
  const url = `${service.url}/v1/threads/${id}/files`
  await (await send(url, 'warm.txt', 9)).text()
  const before = await service.memory()
  let most = before
  let slowest = 0
  const watch = setInterval(() => {
    const asked = performance.now()
    void service.memory().then((now) => { most = Math.max(most, now) })
    void fetch(`${service.url}/health`).then((response) => response.text()).then(() => { slowest = Math.max(slowest, performance.now() - asked) })
  }, 50)
  const taken = await Promise.all(Array.from({ length: 10 }, (_, index) => send(url, `${index}.txt`, 9)))
  const refused = await Promise.all([send(url, 'long.txt', 60), send(url, 'program.exe', 60, 'MZ\0\x01\x02\x03')])
  await until('all files are read', async () => (await getJson(url)).items.every(({ status }: { status: string }) => status === 'completed'), patienceMs)
  clearInterval(watch)
  t.strictSame(taken.map(({ status }) => status), Array(10).fill(202))
  t.strictSame(refused.map(({ status }) => status), [413, 413])
  t.comment(`grew by ${Math.round((most - before) / megabyte)} MB, health within ${Math.round(slowest)} ms`)
  t.ok(most - before < 150 * megabyte, `grew by ${Math.round((most - before) / megabyte)} MB`)
})

t.test('a service that is killed in the middle of an upload leaves nothing of it once it runs again', async (t) => {
  const cwd = await deployment(t, config)
  const service = await startService(t, { cwd })
  const { id } = JSON.parse((await post(`${service.url}/v1/threads`, {})).body)
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.on('error', () => {}) // the service is killed under it
  await once(socket, 'connect')
  socket.write(`POST /v1/threads/${id}/files HTTP/1.1\r\nHost: x\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: 5000000\r\n\r\n${head('half.txt')}${'x'.repeat(200_000)}`)
  const arriving = join(cwd, 'data/files/arriving')
  await until('bytes arrive', async () => (await readdir(arriving).catch(() => [])).length > 0, patienceMs)
  service.kill('SIGKILL')
  await service.exited
  t.equal((await readdir(arriving)).length, 1, 'they are there while nobody is')
  const again = await startService(t, { cwd })
  t.strictSame(await readdir(arriving), [])
  t.strictSame((await getJson(`${again.url}/v1/threads/${id}/files`)).items, [])
})
