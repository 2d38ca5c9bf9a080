import type { IncomingMessage, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { createEgress } from '../../../../src/tools/egress.ts'
import { createIntegrations } from '../../../../src/tools/integrations.ts'
import { remoteIntegrationSchema } from '../../../../src/tools/integration.ts'
import { until } from '../../../helpers/app.ts'
import { said, startMcpServer, type McpServerOptions } from '../../../helpers/mcp-server.ts'
import { patienceMs } from '../../../helpers/process.ts'
import { callTool, toolsOf } from '../../../helpers/run-context.ts'

const lost = { code: 'tool_failed', message: 'The connection to "far" was lost.' }

t.test('a session that the server has forgotten is begun again, without the call failing', async (t) => {
  const { server, tools } = await world(t, { tools: { greet: () => said('hello') } })
  const offered = await tools()
  server.forgetSessions()
  t.equal(await callTool(offered, 'far_greet'), 'hello')
  t.equal(server.count('initialize'), 2)
})

t.test('a server that was started anew is used again', async (t) => {
  const { server, tools } = await world(t, { tools: { greet: () => said('hello') } })
  const offered = await tools()
  server.close()
  await t.rejects(callTool(offered, 'far_greet'), { code: 'tool_failed', message: '"far" is not available right now.' })
  await startMcpServer(t, { port: server.port, tools: { greet: () => said('hello again') } })
  t.equal(await callTool(offered, 'far_greet'), 'hello again')
})

t.test('a request that is refused for what it says is not repeated, and costs no other call', async (t) => {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => { release = resolve })
  let refusing = false
  const { server, tools } = await world(t, {
    tools: { wait: async () => { await held; return said('done') }, greet: () => said('hello') },
    intercept: (request, response) => refusing && request.method === 'POST' && server.heard.at(-1)?.method === 'tools/call' && response.writeHead(400).end('no') !== undefined
  })
  const offered = await tools()
  const waiting = callTool(offered, 'far_wait')
  await until('it waits', () => server.count('tools/call') === 1, patienceMs)
  refusing = true
  await t.rejects(callTool(offered, 'far_greet'), { message: '"far" is not available right now.' })
  refusing = false
  release()
  t.equal(await waiting, 'done')
  t.equal(server.count('tools/call'), 2)
  t.equal(server.count('initialize'), 1)
})

for (const answers of ['streams', 'json'] as const) {
  t.test(`a connection that breaks in mid-call fails the call at once, where answers are ${answers}`, async (t) => {
    const { server, tools } = await world(t, { answers, tools: { wait: async () => await new Promise(() => {}), greet: () => said('hello') } })
    const offered = await tools()
    const waiting = callTool(offered, 'far_wait').catch((error: unknown) => error)
    await until('it waits', () => server.count('tools/call') === 1, patienceMs)
    server.cut()
    t.match(await waiting, { code: 'tool_failed', message: answers === 'streams' ? lost.message : '"far" is not available right now.' })
    t.equal(await callTool(offered, 'far_greet'), 'hello')
  })
}

t.test('an answer that ends before it was given is a lost one', async (t) => {
  const streams = { 'content-type': 'text/event-stream' }
  for (const [headers, text] of [[streams, ''], [streams, ': nothing\n\n'], [{ 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":9999,"result":{}}']] as const) {
    const { tools } = await world(t, { tools: { greet: () => said('hello') }, intercept: onCall((_request, response) => { response.writeHead(200, headers).end(text) }) })
    await t.rejects(callTool(await tools(), 'far_greet'), lost, text)
  }
})

t.test('an answer that the server gives later on another stream is waited for', async (t) => {
  const { server, tools } = await world(t, {
    tools: { greet: () => said('hello') },
    intercept: (request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === 'event-1') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: {"jsonrpc":"2.0","id":2,"result":${JSON.stringify(said('hello, late'))}}\n\n`)
        return true
      }
      if (server.heard.at(-1)?.method !== 'tools/call') return false
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: event-1\nretry: 50\ndata:\n\n')
      return true
    }
  })
  t.equal(await callTool(await tools(), 'far_greet'), 'hello, late')
})

t.test('an answer that is to come later is not waited for when the server is gone', async (t) => {
  const { server, tools } = await world(t, { tools: { greet: () => said('hello') }, intercept: onCall((_request, response) => { response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: event-1\nretry: 500\ndata:\n\n', () => { server.close() }) }) })
  await t.rejects(callTool(await tools(), 'far_greet'), lost)
})

t.test('an answer of more than 10 MB is not read to its end', async (t) => {
  const { tools } = await world(t, { answers: 'json', tools: { flood: () => said('x'.repeat(11 * 1024 * 1024)) } })
  await t.rejects(callTool(await tools(), 'far_flood'), { code: 'tool_failed', message: '"far" is not available right now.' })
})

function onCall (answer: (request: IncomingMessage, response: ServerResponse) => void): NonNullable<McpServerOptions['intercept']> {
  // The session is known by then, and its first two messages were those that make it.
  let posts = 0
  return (request, response) => {
    if (request.method !== 'POST' || ++posts <= 3) return false
    answer(request, response)
    return true
  }
}

async function world (t: Test, options: McpServerOptions) {
  const server = await startMcpServer(t, options)
  const far = remoteIntegrationSchema.parse({ type: 'mcp', url: server.url, timeoutMs: 20_000 })
  const integrations = createIntegrations({ integrations: { far }, env: {}, egress: createEgress({ allow: ['127.0.0.1'] }) })
  t.teardown(() => integrations.close())
  return { server, tools: () => toolsOf(integrations, 'far') }
}
