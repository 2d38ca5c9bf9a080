import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { chunksOf, getJson, openStream, post, textIn, until } from '../helpers/app.ts'
import { skipWithoutPostgresql, testDatabaseUrl } from '../helpers/databases.ts'
import { deployment, ensureBuilt, patienceMs, startService } from '../helpers/process.ts'
import { oneAgent, slowProvider } from './provider.ts'

t.setTimeout(300_000)
ensureBuilt()

const skip = await skipWithoutPostgresql()

t.test('a database that goes away fails the running answer, not the process, and is used again when it is back', { skip }, async (t) => {
  const cable = await cableTo(t, await testDatabaseUrl(t, 'postgresql'))
  const provider = await slowProvider(t, { everyMs: 20 })
  const service = await startService(t, { cwd: await deployment(t, oneAgent), env: { ...provider.env, DATABASE_URL: cable.url } })
  const stream = await openStream(`${service.url}/v1/threads/cut-thread/messages`, { text: 'a long one' })
  await until('the answer has begun', () => stream.text() !== '', patienceMs)

  await cable.cut()
  t.match(await stream.ended, { cut: false }, 'the stream ends in order')
  const types = chunksOf(stream.body()).map(({ type }) => type)
  t.match(chunksOf(stream.body()).find(({ type }) => type === 'data-error'), { data: { code: 'storage_unavailable', retryable: true } })
  t.ok(types.includes('error') && types.includes('text-end'), 'what was open is closed')
  t.match(stream.body(), /\[DONE\]\n\n$/)
  t.notOk(service.hasExited())
  t.match(await (await fetch(`${service.url}/ready`)).json(), { status: 'storage_unavailable' })
  const refused = await post(`${service.url}/v1/threads/cut-thread/messages`, { text: 'hello?' })
  t.equal(refused.status, 503)
  t.match(JSON.parse(refused.body), { code: 'storage_unavailable' })

  await cable.mend()
  await until('it is ready again', async () => (await fetch(`${service.url}/ready`)).status === 200, patienceMs)
  t.equal(textIn(await post(`${service.url}/v1/threads/cut-thread/messages`, { text: 'hello again' })), 'short answer')
  const { items } = await getJson(`${service.url}/v1/threads/cut-thread/messages`)
  t.match(items, [{ role: 'user' }, { role: 'assistant', metadata: { status: 'interrupted' } }, { role: 'user' }, { role: 'assistant', metadata: { status: 'completed' } }])
})

/** A way to a database that can be cut: what is connected breaks, and nothing new connects. */
async function cableTo (t: Test, databaseUrl: string): Promise<{ url: string, cut: () => Promise<void>, mend: () => Promise<void> }> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket)
      socket.on('error', () => { other.destroy() }).on('close', () => { sockets.delete(socket); other.destroy() }).pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.teardown(async () => { if (server.listening) await cut() })
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return { url: url.toString(), cut, mend: async () => { server.listen(port, '127.0.0.1'); await once(server, 'listening') } }
}
