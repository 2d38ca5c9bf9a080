import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { openStream, post, startApp, textIn, until } from '../helpers/app.ts'
import { startCollector, type CollectedSpan, type Collector } from '../helpers/collector.ts'
import { ensureBuilt } from '../helpers/process.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callersSpan = 'b7ad6b7169203331'
const secret = 'PRIVATE-WORD'

t.test('a request, its run, and the run\'s model and tool calls are one trace, below the caller\'s span', async (t) => {
  const { spans } = await traced(t, {})
  const [request, run, first, tool, second] = ['POST /v1/threads/:threadId/messages', 'invoke_agent tester', 'chat scripted', 'execute_tool double', 'chat scripted'].map((name, index) => spans.filter((span) => span.name === name)[index === 4 ? 1 : 0])
  t.strictSame(spans.map((span) => span.traceId), spans.map(() => traceId))
  t.equal(spans.length, 5)
  t.equal(request?.parentSpanId, callersSpan)
  t.equal(run?.parentSpanId, request?.spanId)
  for (const span of [first, tool, second]) t.equal(span?.parentSpanId, run?.spanId, span?.name ?? 'missing')

  t.match(request?.attributes, { 'http.request.method': 'POST', 'http.route': '/v1/threads/:threadId/messages', 'http.response.status_code': 200 })
  t.match(run?.attributes, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'tester', 'gen_ai.conversation.id': 'thread-traced', 'gen_ai.provider.name': 'test', 'parley.run.end': 'completed' })
  t.match(first?.attributes, { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'test', 'gen_ai.request.model': 'scripted', 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5, 'gen_ai.response.finish_reasons': ['tool-calls'] })
  t.match(tool?.attributes, { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'double', 'gen_ai.tool.call.id': 'c1', 'gen_ai.conversation.id': 'thread-traced' })
  t.ok(spans.every(({ status }) => status !== 2))
})

t.test('nothing of what is said is in a trace', async (t) => {
  const { bodies } = await traced(t, {})
  t.ok(bodies.length > 0)
  t.notMatch(bodies.join(''), new RegExp(secret))
})

t.test('what is said is in a trace where the operator wants it there', async (t) => {
  const { spans } = await traced(t, { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' })
  const [first, second] = spans.filter(({ name }) => name === 'chat scripted')
  t.match(first?.attributes['gen_ai.system_instructions'], `${secret}-instructions`)
  t.match(first?.attributes['gen_ai.input.messages'], `${secret}-question`)
  t.match(second?.attributes['gen_ai.output.messages'], `${secret}-answer`)
  const tool = spans.find(({ name }) => name === 'execute_tool double')
  t.match(tool?.attributes, { 'gen_ai.tool.call.arguments': `{"word":"${secret}-input"}`, 'gen_ai.tool.call.result': `"${secret}-input${secret}-input"` })
})

t.test('what fails says how, by its code and not by its message', async (t) => {
  const collector = await startCollector(t)
  const { app, url } = await startApp(t, { model: scriptedModel([[{ throw: new AppError('content_filtered', `${secret} is not allowed.`) }]]), env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  await post(`${url}/v1/threads/thread-failed/messages`, { text: 'Hi' })
  await app.close()
  for (const name of ['invoke_agent tester', 'chat scripted']) t.match(spanNamed(collector, name), { status: 2, attributes: { 'error.type': 'content_filtered' } }, name)
  t.notMatch(collector.bodies.join(''), new RegExp(secret))
})

t.test('a run without a thread is traced too', async (t) => {
  const collector = await startCollector(t)
  const { app, url } = await startApp(t, { model: scriptedModel([['Hi']]), env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  await post(`${url}/v1/agents/tester/run`, { input: 'Hi' })
  await app.close()
  t.equal(spanNamed(collector, 'invoke_agent tester')?.parentSpanId, spanNamed(collector, 'POST /v1/agents/:agentId/run')?.spanId)
})

t.test('a request whose client leaves is in its trace too, with the status that was sent', async (t) => {
  const collector = await startCollector(t)
  const { app, url } = await startApp(t, { model: scriptedModel([['Hi', { hang: true }]]), env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  const stream = await openStream(`${url}/v1/threads/thread-left/messages`, { text: 'Hi' })
  await until('it speaks', () => stream.text() === 'Hi')
  stream.leave()
  await until('it has left', async () => (await (await fetch(`${url}/metrics`)).text()).includes('parley_open_streams 0'))
  await post(`${url}/v1/threads/thread-left/stop`, {})
  await app.close()
  t.equal(spanNamed(collector, 'POST /v1/threads/:threadId/messages')?.attributes['http.response.status_code'], 200)
})

t.test('a collector that refuses, is silent or is not there does not hurt an answer, nor hold the end', async (t) => {
  const [refusing, silent] = [await startCollector(t, 'error'), await startCollector(t, 'silence')]
  for (const endpoint of [refusing.url, silent.url, 'http://127.0.0.1:1']) {
    const { app, url } = await startApp(t, { model: scriptedModel([['Still here']]), env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
    t.equal(textIn(await post(`${url}/v1/threads/thread-quiet/messages`, { text: 'Hi' })), 'Still here')
    const begun = Date.now()
    await app.close()
    t.ok(Date.now() - begun < 9_000, `${endpoint}: closed after ${Date.now() - begun} ms`)
  }
})

t.test('without a collector nothing that makes or sends traces is loaded', async (t) => {
  ensureBuilt()
  t.notMatch(loadedBy(), /sdk-trace|exporter-trace/)
  t.match(loadedBy('http://127.0.0.1:1'), /sdk-trace/, 'and with one it is')
})

/** Packages of OpenTelemetry that a process has loaded once its service is ready. */
function loadedBy (endpoint = ''): string {
  const code = `
    import { createRequire } from 'node:module'
    import { buildApp } from './dist/src/app.js'
    import { loadConfig } from './dist/src/config.js'
    import { openDatabase } from './dist/src/database/database.js'
    const agents = { find: () => undefined, list: () => [], all: () => [], defaultAgent: () => undefined }
    const app = await buildApp({ config: loadConfig(process.env), agents, models: {}, database: await openDatabase({ url: 'file::memory:' }) })
    await app.ready()
    console.log(Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('@opentelemetry/')).join())
    await app.close()`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', env: { PATH: process.env.PATH, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function traced (t: Test, env: Readonly<Record<string, string>>): Promise<Collector> {
  const collector = await startCollector(t)
  const model = scriptedModel([toolCall('c1', 'double', { word: `${secret}-input` }), [`${secret}-answer`]])
  const double = defineTool({ name: 'double', input: z.object({ word: z.string() }), execute: ({ word }) => word + word })
  const { app, url } = await startApp(t, { model, agents: [{ key: 'tester', instructions: `${secret}-instructions`, tools: [double] }], env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } })
  await post(`${url}/v1/threads/thread-traced/messages?q=${secret}`, { text: `${secret}-question` }, { headers: { traceparent: `00-${traceId}-${callersSpan}-01` } })
  await app.close()
  return collector
}

function spanNamed ({ spans }: Collector, name: string): CollectedSpan | undefined {
  return spans.find((span) => span.name === name)
}
