import { once } from 'node:events'
import { createServer } from 'node:net'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loggerOptions } from '../../../src/logging.ts'
import type { Streamed } from '../../helpers/app.ts'
import { getJson, openStream, post, textIn, until, userMessage } from '../../helpers/app.ts'
import { everythingServer, startEverything } from '../../helpers/everything-server.ts'
import { children, startConfigured } from '../../helpers/integrations.ts'
import { said, startMcpServer } from '../../helpers/mcp-server.ts'
import { patienceMs } from '../../helpers/process.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

const onLoopback = { EGRESS_ALLOW: '127.0.0.1' }
const own = "{ kind: 'tool', name: 'own', description: '', input: { type: 'object' }, execute: () => 'mine' }"
const local = (args: readonly string[] = [everythingServer, 'stdio'], rest = '') => `{ type: 'mcp', timeoutMs: 20000, command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify(args)}, ${rest} }`
const remote = (url: string, rest = '') => `{ type: 'mcp', timeoutMs: 20000, url: '${url}', ${rest} }`

const transports = [
  { name: 'a process', start: async () => local() },
  { name: 'streamable HTTP', start: async (t: Test) => remote((await startEverything(t, 'streamableHttp')).url) },
  { name: 'SSE', start: async (t: Test) => remote((await startEverything(t, 'sse')).url, "transport: 'sse'") }
]

for (const { name, start } of transports) {
  t.test(`an agent uses the tools of a server over ${name} as it does its own`, async (t) => {
    const model = scriptedModel([[
      ...toolCall('c1', 'all_echo', { message: 'hello' }), ...toolCall('c2', 'all_get-structured-content', { location: 'New York' }), ...toolCall('c3', 'all_get-tiny-image'),
      ...toolCall('c4', 'all_trigger-long-running-operation', { duration: 0.4, steps: 4 }), ...toolCall('c5', 'all_get-sum', { a: 'no number' }), ...toolCall('c6', 'own')
    ], ['Done.']])
    const { url } = await startConfigured(t, { model, env: onLoopback, config: configOf({ all: await start(t) }) })
    const reply = await chat(url)

    t.strictSame(model.requests[0]?.tools.map((tool) => tool.name).slice(0, 3), ['own', 'all_echo', 'all_get-annotated-message'], 'after its own, in the order of the server')
    t.match(model.requests[0]?.tools[1], { description: 'Echoes back the input string', parameters: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } })
    t.equal(outputOf(reply, 'c1'), 'Echo: hello')
    t.match(outputOf(reply, 'c2'), { temperature: Number, conditions: String, humidity: Number })
    t.match(outputOf(reply, 'c3'), /^Here's the image you requested:\n\[image image\/png, \d+ bytes\]\nThe image above is the MCP logo\.$/)
    t.match(outputOf(reply, 'c4'), /completed/)
    t.match(chunk(reply, 'data-progress'), { data: { toolCallId: 'c4', message: '1 of 4', fraction: 0.25 } })
    t.match(chunk(reply, 'tool-input-error'), { toolCallId: 'c5', errorText: /do not fit: .*a: must be number/ }, 'what does not fit is not sent')
    t.equal(outputOf(reply, 'c6'), 'mine')
    t.equal(textIn(reply), 'Done.')
    t.equal(reply.chunks.filter(({ type }) => type === 'data-unavailable').length, 0)
    const results = model.requests[1]?.messages.flatMap((message) => message.role === 'tool' ? [message.content] : []) ?? []
    t.notMatch(results[2], /iVBOR/, 'no picture is spelled out to the model')
  })
}

t.test('the offline model uses them too', async (t) => {
  const { url } = await startConfigured(t, { config: configOf({ all: local() }) })
  const reply = await chat(url, 'Please use all_echo with message: "hello there"')
  t.match(chunk(reply, 'tool-output-available'), { output: 'Echo: hello there' })
  t.match(textIn(reply), /hello there/)
})

t.test('an integration that is down costs its own tools: the run goes on, and the client is told', async (t) => {
  const { lines, log } = recorded()
  const model = scriptedModel([toolCall('c1', 'up_greet'), ['Fine.']])
  const up = await startMcpServer(t, { tools: { greet: () => said('hello') } })
  const config = configOf({ down: remote(`http://127.0.0.1:${await unusedPort()}/mcp`, "title: 'The handbook'"), broken: local(['-e', 'process.exit(1)']), none: "{ type: 'mcp', command: 'no-such-command' }", up: remote(up.url) })
  const { url } = await startConfigured(t, { model, log, env: onLoopback, config })
  const reply = await chat(url)
  const told = reply.chunks.filter(({ type }) => type === 'data-unavailable').map(({ data, transient }) => ({ ...data as object, transient }))
  t.strictSame(told.sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1), [
    { stage: 'broken', detail: 'The connection to "broken" was lost.', transient: true },
    { stage: 'down', detail: '"The handbook" is not available right now.', transient: true },
    { stage: 'none', detail: '"none" is not available right now.', transient: true }
  ])
  t.equal(reply.chunks[0]?.type, 'start', 'after the start')
  t.equal(outputOf(reply, 'c1'), 'hello')
  t.equal(textIn(reply), 'Fine.')
  t.strictSame(model.requests[0]?.tools.map((tool) => tool.name), ['own', 'up_greet'])
  t.notMatch(JSON.stringify(await getJson(`${url}/v1/threads/thread-one/messages`)), /unavailable/, 'it is not kept')
  t.match(lines.filter(({ msg }) => msg === 'a tool provider failed').map(({ err }) => err.message).sort(), [/^broken: /, /^down: .*ECONNREFUSED/, /^none: .*ENOENT/])
})

t.test('an address that may not be reached is no way around, and no secret', async (t) => {
  const { lines, log } = recorded()
  const inner = await startMcpServer(t, { tools: { steal: () => said('secret') } })
  const outer = await startMcpServer(t, { intercept: (_request, response) => { response.writeHead(307, { location: inner.url }).end(); return true } })
  const model = scriptedModel([['Fine.']])
  const config = configOf({ inner: remote(inner.url), listening: remote(inner.url, "transport: 'sse'"), outer: remote(outer.url) })
  const { url, registry } = await startConfigured(t, { model, log, env: { EGRESS_ALLOW: `127.0.0.1:${outer.port}` }, config })
  t.strictSame(registry.warnings, ['inner', 'listening'].map((name) => `parley.config.mjs: integrations.${name}: its URL is of a private address, which EGRESS_ALLOW does not name: its tools will not be available`))
  const reply = await chat(url)
  const details = Object.fromEntries(reply.chunks.filter(({ type }) => type === 'data-unavailable').map(({ data }) => [(data as { stage: string }).stage, (data as { detail: string }).detail]))
  t.strictSame(details, {
    inner: '"inner" is at an address that this service may not reach.',
    listening: '"listening" is at an address that this service may not reach.',
    outer: '"outer" is not available right now.'
  })
  t.equal(inner.heard.length, 0)
  t.match(lines.find(({ err }) => err?.message.startsWith('inner:')), { err: { message: new RegExp(`127\\.0\\.0\\.1 is no public address; EGRESS_ALLOW can name it: 127\\.0\\.0\\.1:${inner.port}`) } })
})

t.test('a process that dies in mid-call fails the call; the next one starts it again', async (t) => {
  const model = scriptedModel([toolCall('c1', 'all_trigger-long-running-operation', { duration: 60, steps: 1 }), ['It failed.'], toolCall('c2', 'all_echo', { message: 'again' }), ['It works.']])
  const { url } = await startConfigured(t, { model, config: configOf({ all: local() }) })
  const dying = await openStream(`${url}/api/chat`, body('Do'))
  await until('the call is made', () => dying.body().includes('tool-input-available'), patienceMs)
  for (const pid of await serverProcesses()) process.kill(pid, 'SIGKILL')
  await dying.ended
  t.match(dying.body(), /"tool-output-error","toolCallId":"c1","errorText":"The connection to \\"all\\" was lost\."/)
  t.equal(dying.text(), 'It failed.')
  t.equal(outputOf(await chat(url), 'c2'), 'Echo: again')
})

for (const transport of ['streamableHttp', 'sse'] as const) {
  t.test(`a server that dies in mid-call fails the call at once, over ${transport}`, async (t) => {
    const server = await startEverything(t, transport)
    const model = scriptedModel([toolCall('c1', 'all_trigger-long-running-operation', { duration: 60, steps: 60 }), ['It failed.']])
    const { url } = await startConfigured(t, { model, env: onLoopback, config: configOf({ all: remote(server.url, transport === 'sse' ? "transport: 'sse'" : '') }) })
    const dying = await openStream(`${url}/api/chat`, body('Do'))
    await until('the call is made', () => dying.body().includes('data-progress'), patienceMs)
    await server.kill()
    await dying.ended
    t.match(dying.body(), /"tool-output-error","toolCallId":"c1","errorText":"The connection to \\"all\\" was lost\."/)
    t.equal(dying.text(), 'It failed.')
  })
}

t.test('a run that is stopped cancels its calls', async (t) => {
  let cancelled = 0
  const server = await startMcpServer(t, { tools: { wait: async (_input, { signal }) => { await once(signal, 'abort'); cancelled++ } } })
  const { url } = await startConfigured(t, { model: scriptedModel([toolCall('c1', 'far_wait')]), env: onLoopback, config: configOf({ far: remote(server.url) }) })
  const stream = await openStream(`${url}/api/chat`, body('Do'))
  await until('the call is made', () => server.count('tools/call') === 1, patienceMs)
  await post(`${url}/v1/threads/thread-one/stop`, {})
  await stream.ended
  await until('the server knows', () => cancelled === 1, patienceMs)
  t.equal(server.count('notifications/cancelled'), 1)
})

t.test('closing the service leaves no process and no session behind', async (t) => {
  const server = await startMcpServer(t, { tools: { greet: () => said('hello') } })
  const stubborn = ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000)", '--', 'stubborn']
  const { url, app } = await startConfigured(t, { model: scriptedModel([['Hello.']]), env: onLoopback, config: configOf({ far: remote(server.url), all: local(), stuck: local(stubborn) }) })
  const stream = await openStream(`${url}/api/chat`, body('Do'))
  await until('all are started', async () => server.count('tools/list') === 1 && (await serverProcesses()).length === 2, patienceMs)
  t.equal(server.sessions(), 1)
  await app.close()
  await stream.ended
  t.strictSame(await serverProcesses(), [], 'one that answers, and one that neither answers nor ends when it is told to')
  t.equal(server.sessions(), 0)
})

t.test('a process sees the variables it was given, and no other of the service', async (t) => {
  process.env['INTEGRATION_TEST_SECRET'] = 'kept'
  t.teardown(() => { delete process.env['INTEGRATION_TEST_SECRET'] })
  const config = configOf({ all: local([everythingServer, 'stdio'], "env: { MODE: 'quiet' }, passEnv: ['HANDED_OVER']") })
  const { url } = await startConfigured(t, { model: scriptedModel([toolCall('c1', 'all_get-env'), ['Done.']]), env: { HANDED_OVER: 'given', OPENAI_API_KEY: 'kept-too' }, config })
  const seen = JSON.parse(String(outputOf(await chat(url), 'c1'))) as Record<string, string>
  t.match(seen, { MODE: 'quiet', HANDED_OVER: 'given', PATH: String })
  for (const name of ['INTEGRATION_TEST_SECRET', 'OPENAI_API_KEY', 'EGRESS_ALLOW']) t.equal(seen[name], undefined, name)
})

function configOf (integrations: Readonly<Record<string, string>>): string {
  const entries = Object.entries(integrations).map(([name, source]) => `${name}: ${source}`)
  return `{ integrations: { ${entries.join(', ')} }, agents: [{ key: 'tester', titleGeneration: false, tools: [${own}], integrations: ${JSON.stringify(Object.keys(integrations))} }] }`
}

function body (text: string) {
  return { id: 'thread-one', messages: [userMessage(text)] }
}

async function chat (url: string, text = 'Do'): Promise<Streamed> {
  return await post(`${url}/api/chat`, body(text))
}

function chunk ({ chunks }: Streamed, type: string) {
  return chunks.find((candidate) => candidate.type === type)
}

function outputOf ({ chunks }: Streamed, callId: string): unknown {
  return chunks.find(({ type, toolCallId }) => type === 'tool-output-available' && toolCallId === callId)?.['output']
}

async function serverProcesses (): Promise<number[]> {
  return [...await children()].filter(([, command]) => command.endsWith(' stdio') || command.endsWith(' stubborn')).map(([pid]) => pid)
}

function recorded () {
  const lines: { msg: string, err: { message: string } }[] = []
  return { lines, log: pino(loggerOptions({ logLevel: 'debug' }), { write: (line: string) => { lines.push(JSON.parse(line)) } }) }
}

async function unusedPort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
