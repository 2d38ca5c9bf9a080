import t from 'tap'
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { openStream, post, startApp, until } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'

t.test('runs, tokens, model calls and tool calls are counted', async (t) => {
  const model = scriptedModel([toolCall('c1', 'double', { n: 2 }), ['Four'], [{ throw: new AppError('content_filtered', 'No.') }]])
  const double = defineTool({ name: 'double', input: z.object({ n: z.number() }), execute: ({ n }) => n * 2 })
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', tools: [double] }] })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hi' })
  await post(`${url}/v1/threads/thread-two/messages`, { text: 'Hi' })

  const read = await metricsOf(url)
  t.equal(read('parley_runs_total{state="started"}'), 2)
  t.equal(read('parley_runs_total{state="completed"}'), 1)
  t.equal(read('parley_runs_total{state="failed"}'), 1)
  t.equal(read('parley_runs_total{state="stopped"}'), 0, 'states are there before they are reached')
  t.equal(read('parley_run_failures_total{code="content_filtered"}'), 1)
  t.equal(read('parley_runs_running'), 0)
  t.equal(read('parley_tokens_total{model="test:scripted",kind="input"}'), 20)
  t.equal(read('parley_tokens_total{model="test:scripted",kind="output"}'), 10)
  t.equal(read('parley_model_calls_total{model="test:scripted",outcome="ok"}'), 2)
  t.equal(read('parley_model_calls_total{model="test:scripted",outcome="failed"}'), 1)
  t.equal(read('parley_tool_calls_total{tool="double",outcome="ok"}'), 1)
  t.equal(read('parley_time_to_first_token_seconds_count{model="test:scripted"}'), 2)
})

t.test('what a model costs is counted where its price is known', async (t) => {
  const { url } = await startApp(t, { model: { ...scriptedModel([['Hi']]), prices: { input: 1, output: 10 } } })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hi' })
  t.equal((await metricsOf(url))('parley_cost_usd_total{model="test:scripted"}'), 0.00006)
})

t.test('a run and its stream count as open until they end', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Slow', { hang: true }]]) })
  const stream = await openStream(`${url}/v1/threads/thread-open/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Slow')
  const during = await metricsOf(url)
  t.equal(during('parley_runs_running'), 1)
  t.equal(during('parley_open_streams'), 1)
  await fetch(`${url}/v1/threads/thread-open/stop`, { method: 'POST' })
  await stream.ended
  await until('the stream is closed', async () => (await metricsOf(url))('parley_open_streams') === 0)
  const after = await metricsOf(url)
  t.equal(after('parley_runs_running'), 0)
  t.equal(after('parley_runs_total{state="stopped"}'), 1)
})

t.test('a stream whose reader leaves is no longer open, although its run goes on', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Slow', { hang: true }]]) })
  const stream = await openStream(`${url}/v1/threads/thread-left/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Slow')
  stream.leave()
  await until('the stream is closed', async () => (await metricsOf(url))('parley_open_streams') === 0)
  t.equal((await metricsOf(url))('parley_runs_running'), 1)
})

t.test('a reader that leaves before its stream begins is not counted as open', async (t) => {
  const model = scriptedModel([[{ hang: true }]])
  const { url } = await startApp(t, { model })
  for (let index = 1; index <= 3; index++) {
    const impatient = new AbortController()
    const answer = post(`${url}/v1/chat/completions`, { model: 'tester', stream: true, messages: [{ role: 'user', content: 'Hi' }] }, { signal: impatient.signal })
    await until('it is asked', () => model.requests.length === index)
    impatient.abort()
    await t.rejects(answer)
    await until('its run ends with it', () => model.closed() === index)
  }
  await until('no stream is open', async () => (await metricsOf(url))('parley_open_streams') === 0)
})

t.test('requests are counted and timed by the pattern of their route, so that ids and made-up paths add nothing', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hi']]) })
  for (const path of ['/v1/threads/thread-1111', '/v1/threads/thread-2222', '/made/up', '/v1/made-up', '/other']) await fetch(`${url}${path}`)
  const read = await metricsOf(url)
  t.equal(read('parley_http_requests_total{method="GET",route="/v1/threads/:threadId",status="404"}'), 2)
  t.equal(read('parley_http_request_duration_seconds_count{method="GET",route="/v1/threads/:threadId"}'), 2)
  t.equal(read('parley_http_requests_total{method="GET",route="unknown",status="404"}'), 3)
  t.notMatch(await textOf(url), /thread-1111|made|\/other/)
})

t.test('an answer is counted and timed when its reader leaves, and a request that left before any answer is not', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Slow', { hang: true }]]) })
  const stream = await openStream(`${url}/v1/threads/thread-left/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Slow')
  stream.leave()
  const impatient = new AbortController()
  const unanswered = post(`${url}/v1/agents/tester/run`, { input: 'Hi' }, { signal: impatient.signal })
  await until('it runs', async () => (await metricsOf(url))('parley_runs_running') === 2)
  impatient.abort()
  await t.rejects(unanswered)
  await until('its run ends with it', async () => (await metricsOf(url))('parley_runs_running') === 1)
  const read = await metricsOf(url)
  t.equal(read('parley_http_requests_total{method="POST",route="/v1/threads/:threadId/messages",status="200"}'), 1)
  t.equal(read('parley_http_request_duration_seconds_count{method="POST",route="/v1/threads/:threadId/messages"}'), 1)
  t.notMatch(await textOf(url), /agentId\/run/)
})

t.test('operations of the database are timed, each by its store and name', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hi']]) })
  await post(`${url}/v1/threads/thread-timed/messages`, { text: 'Hi' })
  await fetch(`${url}/v1/threads/thread-timed/messages`)
  const read = await metricsOf(url)
  t.equal(read('parley_database_seconds_count{operation="turns.begin"}'), 1)
  t.equal(read('parley_database_seconds_count{operation="turns.finish"}'), 1)
  t.equal(read('parley_database_seconds_count{operation="threads.history"}'), 1)
})

t.test('the process is measured, and how late its timers are', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hi']]) })
  const blockedUntil = performance.now() + 200
  await until('the loop is watched', () => performance.now() > blockedUntil - 100)
  while (performance.now() < blockedUntil) { /* as slow code would */ }
  const read = await metricsOf(url)
  t.ok(read('parley_event_loop_lag_seconds{quantile="1"}') > 0.05)
  t.ok(read('process_resident_memory_bytes') > 1e7)
  t.ok(read('process_cpu_seconds_total{mode="user"}') > 0)
  t.ok(Math.abs(read('process_start_time_seconds') - (Date.now() / 1000 - process.uptime())) < 5)
})

t.test('two services of one process count each for itself, and neither holds the process', async (t) => {
  const [one, other] = [await startApp(t, { model: scriptedModel([['Hi']]) }), await startApp(t, { model: scriptedModel([['Hi']]) })]
  await post(`${one.url}/v1/threads/thread-alone/messages`, { text: 'Hi' })
  t.equal((await metricsOf(one.url))('parley_runs_total{state="started"}'), 1)
  t.equal((await metricsOf(other.url))('parley_runs_total{state="started"}'), 0)
})

t.test('measurements come in the text format of Prometheus', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hi']]) })
  const response = await fetch(`${url}/metrics`)
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  for (const line of (await response.text()).trim().split('\n')) t.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+|)$/)
})

async function textOf (url: string): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text()
}

/** Reads series by their name and labels; fails for one that is not there. */
async function metricsOf (url: string): Promise<(series: string) => number> {
  const text = await textOf(url)
  return (series) => {
    const line = text.split('\n').find((line) => line.startsWith(`${series} `))
    if (line === undefined) throw new Error(`No series ${series} in:\n${text}`)
    return Number(line.slice(series.length))
  }
}
