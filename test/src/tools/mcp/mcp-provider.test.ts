import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createPermissions, type Permissions } from '../../../../src/auth/permissions.ts'
import type { Principal } from '../../../../src/auth/principal.ts'
import { createEgress } from '../../../../src/tools/egress.ts'
import { createIntegrations } from '../../../../src/tools/integrations.ts'
import { remoteIntegrationSchema, type IntegrationDefinition } from '../../../../src/tools/integration.ts'
import { callersWithKeys } from '../../../helpers/callers.ts'
import { post } from '../../../helpers/app.ts'
import { startConfigured } from '../../../helpers/integrations.ts'
import { said, startMcpServer, type CallExtra } from '../../../helpers/mcp-server.ts'
import { callTool, toolsOf } from '../../../helpers/run-context.ts'
import { scriptedModel, toolCall } from '../../../helpers/scripted-model.ts'

const ada: Principal = { tenantId: 'north', userId: 'ada', roles: ['staff'] }
const bob: Principal = { tenantId: 'north', userId: 'bob', roles: [] }
const tokenOf = ({ requestInfo }: CallExtra) => String(requestInfo?.headers['authorization'])
/** Says whose session it is, and has a tool that is named for its user. */
const personal = {
  tools: { whoami: (_input: object, extra: CallExtra) => said(tokenOf(extra)) },
  list: (_cursor: string | undefined, extra: CallExtra) => ({ tools: ['whoami', `only-${tokenOf(extra).replace(/\W/g, '-')}`].map((name) => ({ name, inputSchema: { type: 'object' } })) })
}

t.test('callers with tokens of their own have connections, tools and answers of their own', async (t) => {
  const { server, integrations } = await world(t, { userToken: 'farToken' })
  const adas = await toolsOf(integrations, 'far', { principal: ada, metadata: { farToken: 'token-of-ada' } })
  const bobs = await toolsOf(integrations, 'far', { principal: bob, metadata: { farToken: 'token-of-bob' } })
  t.strictSame(adas.map(({ name }) => name), ['far_whoami', 'far_only-Bearer-token-of-ada'])
  t.strictSame(bobs.map(({ name }) => name), ['far_whoami', 'far_only-Bearer-token-of-bob'])
  t.equal(server.sessions(), 2)
  // Whoever calls it: a tool is of the connection it came from.
  const [first, second] = await Promise.all([callTool(adas, 'far_whoami', {}, { principal: ada }), callTool(bobs, 'far_whoami', {}, { principal: bob })])
  t.strictSame([first, second], ['Bearer token-of-ada', 'Bearer token-of-bob'])
  await toolsOf(integrations, 'far', { principal: ada, metadata: { farToken: 'token-of-ada' } })
  t.equal(server.count('initialize'), 2, 'each is kept')
})

t.test('one token is not one caller, and another token is another connection', async (t) => {
  const { server, integrations } = await world(t, { userToken: 'farToken' })
  const metadata = { farToken: 'one-token-for-two' }
  await toolsOf(integrations, 'far', { principal: ada, metadata })
  await toolsOf(integrations, 'far', { principal: bob, metadata })
  await toolsOf(integrations, 'far', { principal: { ...ada, tenantId: 'south' }, metadata })
  t.equal(server.sessions(), 3)
  const renewed = await toolsOf(integrations, 'far', { principal: ada, metadata: { farToken: 'renewed' } })
  t.equal(await callTool(renewed, 'far_whoami'), 'Bearer renewed')
  t.equal(server.sessions(), 4)
})

t.test('a function finds the token of a caller', async (t) => {
  const { integrations } = await world(t, { userToken: async ({ principal, metadata }) => `${principal.userId}-${String(metadata['part'])}` })
  t.equal(await callTool(await toolsOf(integrations, 'far', { principal: ada, metadata: { part: 7 } }), 'far_whoami'), 'Bearer ada-7')
})

const without = [
  { name: 'the metadata has none', userToken: 'farToken', detail: /^"far" needs a token of yours\.$/ },
  { name: 'the metadata has what is no token', userToken: 'number', detail: /needs a token/ },
  { name: 'it would be two headers', userToken: 'broken', detail: /needs a token/ },
  { name: 'the function has none', userToken: () => undefined, detail: /needs a token/ },
  { name: 'the function throws', userToken: () => { throw new Error('SECRET') }, detail: /^"far" is not available right now\.$/ },
  { name: 'the function never answers', userToken: async () => await new Promise<string>(() => {}), detail: /is not available right now/ }
] as const

for (const { name, userToken, detail } of without) {
  t.test(`a caller without a token is told so and does not get that of another, when ${name}`, async (t) => {
    const { server, integrations } = await world(t, { userToken, timeoutMs: 100 })
    const error = await toolsOf(integrations, 'far', { principal: ada, metadata: { number: 7, broken: 'a\r\nx-admin: true' } }).catch((reason: unknown) => reason)
    t.match(error, { name: 'ToolsUnavailable', stage: 'far', detail })
    t.equal(server.heard.length, 0)
  })
}

t.test('the token of the service comes from a variable, and all callers share one connection', async (t) => {
  const { server, integrations } = await world(t, { tokenEnv: 'FAR_TOKEN', headers: { 'x-team': 'blue' } }, { FAR_TOKEN: 'token-of-the-service' })
  for (const principal of [ada, bob]) t.equal(await callTool(await toolsOf(integrations, 'far', { principal }), 'far_whoami'), 'Bearer token-of-the-service')
  t.equal(server.sessions(), 1)
  t.ok(server.heard.every(({ authorization }) => authorization === 'Bearer token-of-the-service'), 'on every request')
})

t.test('who may not use an integration is not told of it', async (t) => {
  const { server, integrations } = await world(t, { roles: ['staff', 'admin'] })
  t.strictSame(await toolsOf(integrations, 'far', { principal: bob }), [])
  t.strictSame(integrations.list(['far'], bob), [])
  t.equal(server.heard.length, 0)
  t.equal((await toolsOf(integrations, 'far', { principal: ada })).length, 2)
  t.strictSame(integrations.list(['far', 'gone'], ada), [{ name: 'far', label: 'far' }])
})

t.test('the permissions of integrations are asked for each, beside its roles', async (t) => {
  const asked: unknown[] = []
  const permissions = createPermissions({ lists: { integration: [({ userId }, operation, object) => { asked.push([operation, object]); return userId === 'ada' }] } })
  const { server, integrations } = await world(t, {}, {}, permissions)
  t.strictSame([await toolsOf(integrations, 'far', { principal: bob }), integrations.list(['far'], bob)], [[], []])
  t.equal(server.heard.length, 0)
  t.strictSame(asked, Array(2).fill(['use_integration', { kind: 'integration', name: 'far' }]))
  t.equal((await toolsOf(integrations, 'far', { principal: ada })).length, 2)
  const both = await world(t, { roles: ['admin'] }, {}, permissions)
  t.strictSame(both.integrations.list(['far'], ada), [])
})

t.test('a connection that nobody uses is ended, and made again when somebody does', async (t) => {
  const { server, integrations } = await world(t, { userToken: 'farToken', idleMs: 50 })
  const tools = await toolsOf(integrations, 'far', { principal: ada, metadata: { farToken: 'token-of-ada' } })
  while (server.sessions() > 0) await sleep(10)
  t.equal(await callTool(tools, 'far_whoami'), 'Bearer token-of-ada', 'still as the same caller')
  t.equal(server.count('initialize'), 2)
  t.equal(server.count('tools/list'), 1, 'the tools are known')
})

t.test('through a chat, each user calls with the token of their own thread or request', async (t) => {
  const server = await startMcpServer(t, personal)
  const { callers, env } = callersWithKeys('ada', 'bob')
  const model = scriptedModel([toolCall('c1', 'far_whoami'), ['Done.'], toolCall('c2', 'far_whoami'), ['Done.'], ['No tools.']])
  const config = `{ integrations: { far: { type: 'mcp', url: '${server.url}', userToken: 'farToken', timeoutMs: 20000 } }, agents: [{ key: 'tester', titleGeneration: false, integrations: ['far'] }] }`
  const { url } = await startConfigured(t, { model, config, env: { ...env, EGRESS_ALLOW: '127.0.0.1' } })
  const ask = (user: 'ada' | 'bob', metadata: object) => post(`${url}/v1/threads/thread-of-${user}/messages`, { agentId: 'tester', text: 'Who am I?', metadata }, { headers: { ...callers[user].headers } })
  t.match((await ask('ada', { farToken: 'token-of-ada' })).body, /"output":"Bearer token-of-ada"/)
  t.match((await ask('bob', { farToken: 'token-of-bob' })).body, /"output":"Bearer token-of-bob"/)
  const none = await post(`${url}/v1/threads/another-thread/messages`, { agentId: 'tester', text: 'Who am I?' }, { headers: { ...callers.bob.headers } })
  t.match(none.chunks.find(({ type }) => type === 'data-unavailable'), { data: { stage: 'far', detail: '"far" needs a token of yours.' } })
  t.strictSame(model.requests.at(-1)?.tools, [])
  t.notMatch(JSON.stringify(model.requests), /token-of-ada.*needs|farToken/, 'metadata is not for the model')
})

async function world (t: Test, given: Partial<IntegrationDefinition>, env: Record<string, string> = {}, permissions?: Permissions) {
  const server = await startMcpServer(t, personal)
  const far = remoteIntegrationSchema.parse({ type: 'mcp', url: server.url, timeoutMs: 20_000, ...given })
  const integrations = createIntegrations({ integrations: { far }, env, egress: createEgress({ allow: ['127.0.0.1'] }), ...(permissions === undefined ? {} : { permissions }) })
  t.teardown(() => integrations.close())
  return { server, integrations }
}
