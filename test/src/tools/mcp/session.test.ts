import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { AppError } from '../../../../src/errors.ts'
import { createEgress } from '../../../../src/tools/egress.ts'
import { createIntegrations } from '../../../../src/tools/integrations.ts'
import { remoteIntegrationSchema } from '../../../../src/tools/integration.ts'
import { until } from '../../../helpers/app.ts'
import { said, startMcpServer, type McpServer, type McpServerOptions } from '../../../helpers/mcp-server.ts'
import { patienceMs } from '../../../helpers/process.ts'
import { callTool, toolsOf } from '../../../helpers/run-context.ts'

const object = { type: 'object' }

t.test('the tools of a server are asked for once in 15 minutes, and early enough that nobody waits', async (t) => {
  const { server, tools, pass } = await world(t, { tools: { greet: () => said('hello') } })
  const [first, second] = [await tools(), await tools()]
  t.equal(first[0], second[0], 'the same, so that their schemas are compiled once')
  pass(719_999)
  await tools()
  t.equal(server.count('tools/list'), 1)
  pass(1)
  t.equal((await tools())[0], first[0])
  await until('they are asked for again', () => server.count('tools/list') === 2, patienceMs)
  t.equal(server.count('initialize'), 1)
})

t.test('a server whose tools change is asked for them again', async (t) => {
  const names = ['one']
  const { server, tools } = await world(t, { list: () => ({ tools: names.map((name) => ({ name, inputSchema: object })) }) })
  t.strictSame((await tools()).map(({ name }) => name), ['far_one'])
  names.push('two')
  await until('it listens', () => server.count('GET') === 1, patienceMs)
  await server.tellToolsChanged()
  await until('the new one is known', async () => (await tools()).length === 2, patienceMs)
})

t.test('all pages of a list are read, in order', async (t) => {
  const { tools } = await world(t, { list: (cursor) => ({ tools: [{ name: `at-${cursor ?? 'start'}`, inputSchema: object }], ...(cursor === 'b' ? {} : { nextCursor: cursor === 'a' ? 'b' : 'a' }) }) })
  t.strictSame((await tools()).map(({ name }) => name), ['far_at-start', 'far_at-a', 'far_at-b'])
})

t.test('a list without an end is cut', async (t) => {
  const { server, tools } = await world(t, { list: () => ({ tools: Array.from({ length: 30 }, (_, at) => ({ name: `tool${at}`, inputSchema: object })), nextCursor: 'more' }) })
  t.equal((await tools()).length, 1_000)
  t.equal(server.count('tools/list'), 34)
})

t.test('a tool that is described wrongly, or that cannot be called like others, costs itself only', async (t) => {
  const { tools } = await world(t, {
    list: () => ({
      tools: [
        { name: 'good', title: 'The good one', description: 'It is good.', inputSchema: object }, { name: 'noted', inputSchema: object, annotations: { title: 'Noted' } },
        { name: 'text', inputSchema: { type: 'string' } }, { name: '', inputSchema: object }, { name: 'none' }, null, { name: 'long', inputSchema: object, execution: { taskSupport: 'required' } },
        { name: 'odd', description: 7, annotations: 'none', inputSchema: object }
      ]
    })
  })
  t.match(await tools(), [{ name: 'far_good', title: 'The good one', description: 'It is good.' }, { name: 'far_noted', title: 'Noted' }, { name: 'far_odd', description: '' }])
  t.equal((await tools()).length, 3)
})

t.test('a failed tool says that it failed, and what it said only where that is wanted', async (t) => {
  const tools = { fail: () => ({ ...said('no table "users" on db-7'), isError: true }), quiet: () => ({ content: [], isError: true }), boom: () => { throw new Error('stack of db-7') } }
  const closed = await world(t, { tools })
  const open = await world(t, { tools }, { showErrors: true })
  for (const name of ['far_fail', 'far_quiet', 'far_boom']) t.match(await failureOf(callTool(await closed.tools(), name)), { code: 'tool_failed', message: `The tool "${name}" failed.` })
  t.match(await failureOf(callTool(await closed.tools(), 'far_fail')), { cause: { message: 'no table "users" on db-7' } }, 'the log is told')
  t.match(await failureOf(callTool(await open.tools(), 'far_fail')), { message: 'no table "users" on db-7' })
  t.match(await failureOf(callTool(await open.tools(), 'far_quiet')), { message: 'The tool "far_quiet" failed.' })
  t.match(await failureOf(callTool(await open.tools(), 'far_boom')), { message: 'The tool "far_boom" failed.' }, 'of the protocol, not of the tool')
})

t.test('nothing of what a server answers with an error reaches the user, and no token the log', async (t) => {
  const token = 'a-token-of-the-service'
  const refusing = (status: number) => ({ intercept: (_request: unknown, response: ServerResponse) => response.writeHead(status).end(`<html>${token} ${'x'.repeat(5_000)}</html>`) !== undefined })
  for (const [status, message] of [[401, /^"far" refused the credentials it was given\.$/], [403, /refused the credentials/], [500, /^"far" is not available right now\.$/]] as const) {
    t.match(await failureOf((await world(t, refusing(status), { transport: 'sse' })).tools()), { detail: message }, `${status} over SSE`)
    const { tools } = await world(t, refusing(status), { tokenEnv: 'TOKEN' }, { TOKEN: token })
    const error = await tools().then(() => undefined, (reason: unknown) => reason as Error & { detail: string, cause: Error })
    t.match(error, { name: 'ToolsUnavailable', stage: 'far', detail: message }, String(status))
    t.match(error?.cause.message, /<html>\[redacted\]/)
    t.notMatch(String(error?.cause.stack), token)
    t.ok((error?.cause.message.length ?? 0) <= 500)
  }
})

t.test('a server that fails again and again is left alone for a minute, and then tried once', async (t) => {
  let failing = true
  const { server, tools, pass } = await world(t, { tools: { greet: () => said('hello') }, intercept: (_request, response) => failing && response.writeHead(503).end() !== undefined })
  for (let i = 0; i < 3; i++) await t.rejects(tools(), { message: 'far: "far" is not available right now.' })
  t.equal(server.heard.length, 3)
  await t.rejects(tools(), { message: 'far: "far" is not available right now.' })
  pass(59_999)
  await t.rejects(tools())
  t.equal(server.heard.length, 3, 'it is not asked')
  pass(1)
  await t.rejects(tools())
  t.equal(server.heard.length, 4, 'it is asked once')
  failing = false
  pass(60_000)
  t.equal((await tools()).length, 1)
})

t.test('calls that fail break the circuit too, and those of tools that fail do not', async (t) => {
  let failing = false
  const { server, tools } = await world(t, { tools: { fail: () => ({ ...said('no'), isError: true }), boom: () => { throw new Error('no') } }, intercept: (_request, response) => failing && response.writeHead(503).end() !== undefined })
  const offered = await tools()
  for (let i = 0; i < 5; i++) for (const name of ['far_fail', 'far_boom']) await t.rejects(callTool(offered, name), { message: /failed/ })
  failing = true
  for (let i = 0; i < 11; i++) await t.rejects(callTool(offered, 'far_fail'), { message: '"far" is not available right now.' })
  const heard = server.heard.length
  await t.rejects(callTool(offered, 'far_fail'), { code: 'tool_failed', message: '"far" is not available right now.' })
  t.equal(server.heard.length, heard)
})

t.test('a list that does not come in time is not waited for, and tools that do not answer are those of a slow server', async (t) => {
  const silent = await world(t, { list: async () => await new Promise(() => {}) }, { timeoutMs: 2_000 })
  await t.rejects(silent.tools(), { message: 'far: "far" is not available right now.' })
  await until('it is told', () => silent.server.count('notifications/cancelled') === 1 || silent.server.count('DELETE') === 1, patienceMs)

  const slow = await world(t, { tools: { wait: async () => await new Promise(() => {}) } })
  const offered = await slow.tools()
  const late = () => { const ending = new AbortController(); setTimeout(() => { ending.abort(new AppError('tool_failed', 'Too slow.', { details: { reason: 'timeout' } })) }, 20); return ending.signal }
  for (let i = 0; i < 3; i++) await t.rejects(callTool(offered, 'far_wait', {}, { signal: late() }))
  t.match(await failureOf(callTool(offered, 'far_wait')), { message: '"far" is not available right now.', cause: { message: /Too many requests have failed/ } })
})

t.test('a list that does not come costs no call that is under way', async (t) => {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => { release = resolve })
  let asked = 0
  const plain = { tools: [{ name: 'wait', inputSchema: object }] }
  const { server, tools, pass } = await world(t, { tools: { wait: async () => { await held; return said('done') } }, list: () => ++asked === 1 ? plain : new Promise(() => {}) }, { timeoutMs: 1_000 })
  const waiting = callTool(await tools(), 'far_wait')
  await until('it waits', () => server.count('tools/call') === 1, patienceMs)
  pass(900_000)
  await t.rejects(tools(), { message: 'far: "far" is not available right now.' })
  release()
  t.equal(await waiting, 'done')
})

t.test('a call that the user gives up says nothing about the server', async (t) => {
  const { tools, server } = await world(t, { tools: { wait: async () => await new Promise(() => {}), greet: () => said('hello') } })
  const offered = await tools()
  for (let i = 0; i < 5; i++) {
    const ending = new AbortController()
    const called = callTool(offered, 'far_wait', {}, { signal: ending.signal })
    await until('it is called', () => server.count('tools/call') === i + 1, patienceMs)
    ending.abort(new Error('gone'))
    await t.rejects(called)
  }
  t.equal(await callTool(offered, 'far_greet'), 'hello')
  await until('each is cancelled', () => server.count('notifications/cancelled') === 5, patienceMs)
})

t.test('what was answered is not cancelled when the run ends', async (t) => {
  const { tools, server } = await world(t, { tools: { greet: () => said('hello') } })
  const ending = new AbortController()
  await callTool(await tools(), 'far_greet', {}, { signal: ending.signal })
  ending.abort()
  await callTool(await tools(), 'far_greet')
  t.equal(server.count('notifications/cancelled'), 0)
})

t.test('progress is passed on in words and as a fraction', async (t) => {
  const told: unknown[] = []
  const steps = [{ progress: 1, total: 4 }, { progress: 2, total: 4, message: 'Half' }, { progress: 9, total: 4 }, { progress: 3 }, { progress: 4, total: 0 }, { progress: 5, message: 'x'.repeat(1_000) }]
  const { tools } = await world(t, {
    tools: {
      work: async (_input, { sendNotification, _meta }) => {
        for (const step of steps) await sendNotification({ method: 'notifications/progress', params: { ...step, progressToken: _meta?.progressToken ?? '' } })
        await until('they have arrived', () => told.length === steps.length, patienceMs)
        return said('done')
      }
    }
  })
  await callTool(await tools(), 'far_work', {}, { report: (...all) => { told.push(all) } })
  t.strictSame(told, [['1 of 4', 0.25], ['Half', 0.5], ['9 of 4', 1], ['3', undefined], ['4 of 0', undefined], ['x'.repeat(500), undefined]])
})

async function world (t: Test, options: McpServerOptions, given: object = {}, env: Record<string, string> = {}): Promise<{ server: McpServer, tools: () => ReturnType<typeof toolsOf>, pass: (ms: number) => void }> {
  const server = await startMcpServer(t, options)
  let time = 0
  const far = remoteIntegrationSchema.parse({ type: 'mcp', url: server.url, timeoutMs: 20_000, ...given })
  const integrations = createIntegrations({ integrations: { far }, env, egress: createEgress({ allow: ['127.0.0.1'] }), now: () => time })
  t.teardown(() => integrations.close())
  return { server, tools: () => toolsOf(integrations, 'far'), pass: (ms) => { time += ms } }
}

async function failureOf (called: Promise<unknown>): Promise<unknown> {
  return await called.then(() => undefined, (error: unknown) => error)
}
