import t, { type Test } from 'tap'
import { chunksOf, getJson, openStream, post, until, type OpenStream } from '../helpers/app.ts'
import { deployment, ensureBuilt, patienceMs, startService, type Service } from '../helpers/process.ts'
import { oneAgent, slowProvider, type SlowProvider } from './provider.ts'

t.setTimeout(300_000)
ensureBuilt()

interface Running { readonly service: Service, readonly provider: SlowProvider, readonly stream: OpenStream, readonly options: { cwd: string, env: Record<string, string> } }

/** A service in the middle of an answer in the thread `busy-thread`. */
async function inMidAnswer (t: Test, env: Record<string, string> = {}): Promise<Running> {
  const provider = await slowProvider(t)
  const options = { cwd: await deployment(t, oneAgent), env: { ...provider.env, ...env } }
  const service = await startService(t, options)
  const stream = await openStream(`${service.url}/v1/threads/busy-thread/messages`, { text: 'a long one' })
  await until('the answer has begun', () => stream.text() !== '', patienceMs)
  return { service, provider, stream, options }
}

t.test('SIGTERM lets the running answer finish while history and stop still answer, then exits 0', async (t) => {
  const { service, provider, stream } = await inMidAnswer(t)
  const other = await openStream(`${service.url}/v1/threads/other-thread/messages`, { text: 'another long one' })
  await until('the other answer has begun', () => other.text() !== '', patienceMs)
  t.equal((await fetch(`${service.url}/ready`)).status, 200)

  service.kill('SIGTERM')
  await until('readiness is off', async () => (await fetch(`${service.url}/ready`)).status === 503, patienceMs)
  t.match(await (await fetch(`${service.url}/ready`)).json(), { status: 'draining' })
  t.equal((await fetch(`${service.url}/health`)).status, 200)
  const refused = await post(`${service.url}/v1/threads/new-thread-1/messages`, { text: 'hello' })
  t.equal(refused.status, 503)
  t.match(JSON.parse(refused.body), { code: 'shutting_down', retryable: true })
  t.match((await getJson(`${service.url}/v1/threads/busy-thread/messages`)).items, [{ role: 'user' }])
  const resumed = await openStream(`${service.url}/v1/threads/busy-thread/stream`)
  t.equal(resumed.status, 200)
  t.equal((await post(`${service.url}/v1/threads/other-thread/stop`, {})).status, 200)
  t.match(await other.ended, { cut: false })
  t.match(other.body(), /"type":"abort"/)
  t.notOk(service.hasExited())

  provider.finish()
  for (const reader of [stream, resumed]) {
    t.match(await reader.ended, { cut: false })
    t.match(chunksOf(reader.body()).at(-1), { type: 'finish', finishReason: 'stop' })
  }
  t.match(await service.exited, { code: 0, signal: null })
})

t.test('an answer that outlasts the drain time is interrupted, told so, and stored', async (t) => {
  const { service, stream, options } = await inMidAnswer(t, { DRAIN_TIMEOUT_MS: '300' })
  service.kill('SIGTERM')
  t.match(await stream.ended, { cut: false }, 'the stream ends in order')
  t.match(stream.body(), /"code":"shutting_down"/)
  t.match(await service.exited, { code: 0, signal: null })

  const again = await startService(t, options)
  const { items: [, answer] } = await getJson(`${again.url}/v1/threads/busy-thread/messages`)
  t.match(answer, { metadata: { status: 'interrupted' } })
  t.equal(answer.parts.find((part: { type: string }) => part.type === 'text').text, stream.text())
})

for (const second of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`a second signal ends the process at once (SIGTERM, then ${second})`, async (t) => {
    const { service } = await inMidAnswer(t)
    service.kill('SIGTERM')
    await until('draining', async () => (await fetch(`${service.url}/ready`)).status === 503, patienceMs)
    service.kill(second)
    t.match(await service.exited, { code: 1, signal: null })
  })
}

t.test('SIGINT ends an idle service at once, in order', async (t) => {
  const service = await startService(t, { cwd: await deployment(t) })
  const begun = Date.now()
  await fetch(`${service.url}/health`) // leaves a connection that is kept alive
  service.kill('SIGINT')
  t.match(await service.exited, { code: 0, signal: null })
  t.ok(Date.now() - begun < 4_000, 'no connection that is kept alive holds it')
})
