import { once } from 'node:events'
import Fastify from 'fastify'
import t from 'tap'
import closeSignal from '../../plugins/close-signal.ts'
import metrics from '../../plugins/metrics.ts'
import streamReply from '../../plugins/stream-reply.ts'
import { until } from '../helpers/app.ts'

t.test('a source learns that its reader left before it was begun, and is not counted as open', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(metrics)
  await app.register(closeSignal)
  await app.register(streamReply, { heartbeatMs: 10 })
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
