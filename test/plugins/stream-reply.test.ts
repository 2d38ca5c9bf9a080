import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import closeSignal from '../../plugins/close-signal.ts'
import metrics from '../../plugins/metrics.ts'
import requestEnd from '../../plugins/request-end.ts'
import streamReply from '../../plugins/stream-reply.ts'
import { sseHeaders } from '../../src/protocols/sse.ts'
import { until } from '../helpers/app.ts'

t.test('a source learns that its reader left before it was begun, and is not counted as open', async (t) => {
  const app = await streamingApp(t)
  let asked = false
  let closed = false
  app.get('/', async (_request, reply) => {
    asked = true
    await once(reply.raw, 'close')
    return reply.stream(frames(reply.closeSignal()), { 'content-type': 'text/event-stream' })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  const impatient = new AbortController()
  const answer = fetch(url, { signal: impatient.signal })
  await until('it is asked', () => asked)
  impatient.abort()
  await t.rejects(answer)
  await until('its source has ended', () => closed)
  t.match(await app.metrics.render(), /^parley_open_streams 0$/m)

  async function * frames (signal: AbortSignal): AsyncGenerator<string, void> {
    yield 'opened'
    try {
      if (!signal.aborted) await new Promise(() => {})
      throw new Error('ended early')
    } finally {
      closed = true
    }
  }
})

t.test('a stream closes its connection for a client that asked for it, and keeps it for others', async (t) => {
  const app = await streamingApp(t)
  app.get('/', async (_request, reply) => reply.stream(frames(), sseHeaders))
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))

  for (const { asked, told } of [{ asked: 'HTTP/1.1\r\nconnection: close', told: 'close' }, { asked: 'HTTP/1.0', told: 'close' }, { asked: 'HTTP/1.1', told: 'keep-alive' }]) {
    const socket = connect(Number(port), '127.0.0.1', () => { socket.write(`GET / ${asked}\r\nhost: here\r\n\r\n`) })
    t.teardown(() => socket.destroy())
    let heard = ''
    let ended = false
    socket.setEncoding('utf8').on('data', (text: string) => { heard += text }).on('end', () => { ended = true })
    await until('it is answered', () => heard.includes('said'))
    t.match(heard, new RegExp(`^connection: ${told}\r$`, 'm'), asked)
    if (told === 'close') await until('it is closed', () => ended)
  }

  async function * frames (): AsyncGenerator<string, void> { yield 'said' }
})

t.test('what a client asked with is not held for as long as it is answered', async (t) => {
  const app = await streamingApp(t)
  let held: unknown = 'unknown'
  app.post('/', async (request, reply) => reply.stream(frames(() => { held = request.body }), sseHeaders))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.equal(await (await fetch(url, { method: 'POST', body: JSON.stringify({ messages: ['long'] }), headers: { 'content-type': 'application/json' } })).text(), 'said')
  t.equal(held, undefined)

  async function * frames (look: () => void): AsyncGenerator<string, void> {
    look()
    yield 'said'
  }
})

async function streamingApp (t: Test) {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(requestEnd)
  await app.register(metrics)
  await app.register(closeSignal)
  await app.register(streamReply, { heartbeatMs: 10 })
  return app
}
