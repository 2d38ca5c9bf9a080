import t, { type Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { agentId } from '../../../src/agents/ids.ts'
import { stepsAttributes } from '../../../src/agents/steps/define-steps-agent.ts'
import { AppError } from '../../../src/errors.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, startApp, until } from '../../helpers/app.ts'
import { startConfigured } from '../../helpers/integrations.ts'
import { startMcpServer } from '../../helpers/mcp-server.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

const run = '/v1/agents/tester/run'
const usage = { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }
const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false }

t.test('agents are listed in the order of the configuration, page by page, without the hidden ones', async (t) => {
  const { url } = await start(t)
  const all = await getJson(`${url}/v1/agents`)
  t.strictSame(all, {
    items: [
      { id: agentId('tester'), key: 'tester', name: 'tester', description: 'It tests.', model: 'test:scripted', fileUpload: false, vision: false, retrieval: false, suggestions: false },
      { id: agentId('shaped'), key: 'shaped', name: 'shaped', description: '', model: 'test:scripted', fileUpload: false, vision: false, retrieval: false, suggestions: false }
    ],
    nextCursor: null
  })
  const first = await getJson(`${url}/v1/agents?limit=1`)
  const second = await getJson(`${url}/v1/agents?limit=1&cursor=${encodeURIComponent(first.nextCursor)}`)
  t.strictSame([...first.items, ...second.items], all.items)
  t.equal(second.nextCursor, null)
})

t.test('an agent is shown by id and by key, and a hidden one is not there', async (t) => {
  const { url } = await start(t)
  const { items: [tester] } = await getJson(`${url}/v1/agents`)
  t.strictSame(await getJson(`${url}/v1/agents/tester`), tester)
  t.strictSame(await getJson(`${url}/v1/agents/${agentId('tester')}`), tester)
  t.notMatch(JSON.stringify(tester), /instructions|Do test/)
  for (const id of ['ghost', agentId('ghost')]) refused(t, await send(url, 'GET', `/v1/agents/${id}`), { status: 404, code: 'not_found' }, id)
})

t.test('what an agent can use is listed by label, without asking for it', async (t) => {
  const server = await startMcpServer(t)
  const integrations = `{ docs: { type: 'mcp', title: 'Handbook', url: '${server.url}' }, plain: { type: 'mcp', command: 'no-such-command' }, staff: { type: 'mcp', command: 'no-such-command', roles: ['staff'] } }`
  const tools = "[{ kind: 'tool', name: 'own', title: 'My own', description: 'It is mine.', input: { type: 'object' } }, { kind: 'tool', name: 'bare', description: '' }, () => []]"
  const { url } = await startConfigured(t, { config: `{ integrations: ${integrations}, agents: [{ key: 'full', tools: ${tools}, integrations: ['plain', 'docs', 'staff'] }, { key: 'empty' }, { key: 'ghost', hidden: true }], defaultAgent: 'full' }` })
  const list = (id: string) => send(url, 'GET', `/v1/agents/${id}/tools`)
  t.strictSame((await list('full')).json, {
    tools: [{ name: 'own', label: 'My own', description: 'It is mine.' }, { name: 'bare', label: 'bare', description: '' }],
    integrations: [{ name: 'plain', label: 'plain' }, { name: 'docs', label: 'Handbook' }],
    children: []
  })
  t.strictSame((await list(agentId('empty'))).json, { tools: [], integrations: [], children: [] })
  for (const id of ['ghost', 'nobody']) refused(t, await list(id), { status: 404, code: 'not_found' }, id)
  t.equal(server.heard.length, 0)
})

t.test('a crew is listed as the children of its coordinator, as deep as it may be asked and by the tools that ask it', async (t) => {
  const own = defineTool({ name: 'critic', title: 'Own', description: 'No agent.' })
  const { url, model } = await start(t, [['Done']], [
    { key: 'desk', maxDepth: 3, tools: [own], agents: ['looker', { agent: 'critic', mode: 'handover' }, 'looker', 'desk', 'stepper'] },
    { key: 'looker', name: 'Look It Up', description: 'Looks up.', hidden: true, maxDepth: 3, delegation: 'group', agents: ['critic', 'desk', { agent: 'deep', mode: 'handover' }] },
    { key: 'critic', hidden: true, maxDepth: 3, agents: ['deep'] },
    { key: 'deep', maxDepth: 3, agents: ['deeper', 'looker'] },
    { key: 'deeper', maxDepth: 9, agents: ['deepest'] },
    { key: 'deepest', maxDepth: 9 },
    stepsAttributes({ key: 'stepper', initial: {}, agents: ['shallow', 'deeper'], steps: [async function * () {}] }),
    { key: 'shallow', maxDepth: 1 }
  ])
  const listed = (await send(url, 'GET', '/v1/agents/desk/tools')).json
  t.strictSame(outline(listed.children), [
    ['look_it_up', 'request', 'Look It Up', [
      ['delegate', 'request', 'critic', [['deep', 'request', 'deep', []]]],
      ['hand_over', 'handover', 'deep', [['deeper', 'request', 'deeper', []]]]
    ]],
    [`critic_${agentId('critic').slice(0, 6)}`, 'handover', 'critic', [['deep', 'request', 'deep', [['deeper', 'request', 'deeper', []], ['look_it_up', 'request', 'Look It Up', []]]]]],
    ['stepper', 'request', 'stepper', [[null, 'request', 'deeper', [['deepest', 'request', 'deepest', []]]]]]
  ])
  const [looker] = listed.children
  t.match(listed.tools, [{ name: 'critic', label: 'Own' }])
  t.strictSame({ ...looker, children: [] }, { toolName: 'look_it_up', mode: 'request', id: agentId('looker'), name: 'Look It Up', description: 'Looks up.', tools: [], integrations: [], children: [] })
  t.equal((await send(url, 'GET', '/v1/agents/looker/tools')).status, 404, 'a hidden one is not there on its own')
  await send(url, 'POST', '/v1/agents/desk/run', { body: { input: 'x', tools: true } })
  t.strictSame(model.requests[0]?.tools.map(({ name }) => name), ['critic', ...listed.children.map(({ toolName }: { toolName: string }) => toolName)], 'as the model is told')
})

t.test('a crew in which everybody knows everybody is listed in bounds', async (t) => {
  const keys = Array.from({ length: 12 }, (_, index) => `agent-${index}`)
  const { url } = await start(t, [['Hi']], keys.map((key) => ({ key, maxDepth: 12, agents: keys })))
  const { text, json } = await send(url, 'GET', '/v1/agents/agent-0/tools')
  t.equal(json.children.length, 11)
  t.ok(text.length < 200_000, `${text.length} characters`)
})

t.test('a run of an input answers with its text and keeps nothing', async (t) => {
  const { url, model } = await start(t)
  const { status, json } = await send(url, 'POST', run, { body: { input: 'Say hello' } })
  t.equal(status, 200)
  t.strictSame(json, { output: 'Hello', text: 'Hello', usage, finishReason: 'stop', toolCalls: [] })
  t.strictSame(model.requests[0]?.messages, [{ role: 'user', content: 'Say hello' }])
  t.strictSame((await getJson(`${url}/v1/threads`)).items, [])
})

t.test('a run of messages takes them as its context, in both spellings', async (t) => {
  const { url, model } = await start(t)
  const messages = [
    { role: 'user', content: 'One' },
    { role: 'assistant', parts: [{ type: 'text', text: 'Two' }, { type: 'unknown-part' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Three' }] }
  ]
  t.equal((await send(url, 'POST', run, { body: { messages } })).json.text, 'Hello')
  t.strictSame(model.requests[0]?.messages, [{ role: 'user', content: 'One' }, { role: 'assistant', text: 'Two', toolCalls: [] }, { role: 'user', content: 'Three' }])
})

t.test('a run uses tools when it is told to', async (t) => {
  const called = await start(t, [toolCall('c1', 'add', { a: 1, b: 2 }), ['3']])
  const { json } = await send(called.url, 'POST', run, { body: { input: '1 + 2?', tools: true } })
  t.strictSame(json, {
    output: '3', text: '3', finishReason: 'stop', usage: { ...usage, input: 20, output: 10 },
    toolCalls: [{ callId: 'c1', toolName: 'add', input: { a: 1, b: 2 }, output: 3 }]
  })
  const plain = await start(t, [['No tools']])
  await send(plain.url, 'POST', run, { body: { input: '1 + 2?' } })
  t.strictSame(plain.model.requests.map(({ tools }) => tools), [[]], 'and offers none otherwise')
})

t.test('a run gives its output in the shape that was asked for', async (t) => {
  const { url, model } = await start(t, [['{"name":"Ada"}']])
  const { json } = await send(url, 'POST', run, { body: { input: 'Who?', responseFormat: person } })
  t.match(json, { output: { name: 'Ada' }, text: '{"name":"Ada"}' })
  t.strictSame(model.requests[0]?.responseSchema, person)
})

t.test('a run whose answer does not fit its shape asks again, and fails when it never does', async (t) => {
  const again = await start(t, [['no JSON'], ['{"name":1}'], ['{"name":"Ada"}']])
  t.strictSame((await send(again.url, 'POST', run, { body: { input: 'Who?', responseFormat: person } })).json.output, { name: 'Ada' })
  t.equal(again.model.requests.length, 3)
  const never = await start(t, [['no JSON']])
  refused(t, await send(never.url, 'POST', run, { body: { input: 'Who?', responseFormat: person } }), { status: 503, code: 'provider_unavailable' }, 'never')
})

t.test("the agent's own shape holds unless the request turns it off", async (t) => {
  const { url } = await start(t, [['{"n":1}']])
  t.strictSame((await send(url, 'POST', '/v1/agents/shaped/run', { body: { input: 'x' } })).json.output, { n: 1 })
  t.strictSame((await send(url, 'POST', '/v1/agents/shaped/run', { body: { input: 'x', responseFormat: null } })).json.output, '{"n":1}')
})

t.test('a run in a thread is a turn of it', async (t) => {
  const { url, model } = await start(t)
  const threadId = 'thread-one'
  for (const input of ['First', 'Second']) t.equal((await send(url, 'POST', run, { body: { input, threadId, metadata: { a: 1 } } })).status, 200)
  const { items } = await getJson(`${url}/v1/threads/${threadId}/messages`)
  t.strictSame(items.map(({ role }: { role: string }) => role), ['user', 'assistant', 'user', 'assistant'])
  t.equal(model.requests.at(-1)?.messages.length, 3, 'and knows what went before')
  t.match(await getJson(`${url}/v1/threads/${threadId}`), { agentId: agentId('tester'), metadata: { a: 1 } })
  refused(t, await send(url, 'POST', '/v1/agents/shaped/run', { body: { input: 'x', threadId } }), { status: 409, code: 'conflict', path: 'agentId' }, "another agent's thread")
})

t.test('a run that fails is an HTTP error with the cause kept back', async (t) => {
  const failures = [
    { error: new AppError('rate_limited', 'Slow down.', { retryAfterMs: 30_000 }), status: 429, code: 'rate_limited' },
    { error: new AppError('context_overflow', 'Too long.'), status: 400, code: 'context_overflow' },
    { error: new AppError('configuration_error', 'Not set up.'), status: 500, code: 'configuration_error' },
    { error: new Error('SECRET at line 1'), status: 500, code: 'unknown' }
  ]
  for (const { error, status, code } of failures) {
    const { url } = await start(t, [[{ throw: error }]])
    const answer = await send(url, 'POST', run, { body: { input: 'x' } })
    refused(t, answer, { status, code }, code)
    t.notMatch(answer.text, /SECRET/)
  }
})

t.test('a stateless run stops when its client leaves', async (t) => {
  const { url, model } = await start(t, [['Hel', { hang: true }]])
  const leaving = new AbortController()
  const asked = fetch(url + run, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"input":"x"}', signal: leaving.signal }).catch(() => 'left')
  await until('the model is asked', () => model.requests.length === 1)
  leaving.abort()
  t.equal(await asked, 'left')
  await until('the model is let go', () => model.closed() === 1)
})

interface Listed { readonly toolName: string | null, readonly mode: string, readonly name: string, readonly children: readonly Listed[] }

/** Names and modes of a listed crew. */
function outline (children: readonly Listed[]): unknown[] {
  return children.map(({ toolName, mode, name, children }) => [toolName, mode, name, outline(children)])
}

async function start (t: Test, script: Parameters<typeof scriptedModel>[0] = [['Hel', 'lo']], others: readonly AgentDefinition[] = []) {
  const model = scriptedModel(script)
  const add = defineTool({ name: 'add', input: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
  const agents = [
    { key: 'tester', description: 'It tests.', instructions: 'Do test.', tools: [add] },
    { key: 'ghost', hidden: true },
    { key: 'shaped', responseFormat: z.object({ n: z.number() }) },
    ...others
  ]
  const { url } = await startApp(t, { model, agents })
  return { url, model }
}
