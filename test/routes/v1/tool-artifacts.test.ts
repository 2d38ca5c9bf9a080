import type { FastifyBaseLogger } from 'fastify'
import t, { type Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { stepsAttributes } from '../../../src/agents/steps/define-steps-agent.ts'
import { askAgent } from '../../../src/agents/steps/ask.ts'
import { defineArtifact, type BuildArtifact } from '../../../src/artifacts/artifact.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, openStream, post, startApp, textIn, until } from '../../helpers/app.ts'
import { startConfigured } from '../../helpers/integrations.ts'
import { loggedService } from '../../helpers/logged.ts'
import { said, startMcpServer } from '../../helpers/mcp-server.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { send } from '../request.ts'

const card = defineArtifact({ name: 'card', data: z.object({ text: z.string(), from: z.string().default('us') }) })
const look = defineTool({ name: 'look', input: z.object({ at: z.string().default('sea') }), execute: ({ at }) => ({ saw: at }) })
const shows = (build: BuildArtifact, artifact = card) => ({ look: { artifact, build } })

t.test('a tool’s result is shown as an artifact right behind it, kept with the message and never told to the model', async (t) => {
  const given: unknown[] = []
  const build: BuildArtifact = (args, result, { signal, ...context }) => {
    given.push({ args, result, context, isSignal: signal instanceof AbortSignal })
    return { text: `Seen: ${String(args['at'])}`, secret: 'dropped' }
  }
  const { ask, model, items, parts } = await serve(t, { tools: [look], toolArtifacts: shows(build) }, [toolCall('c1', 'look', { at: 'sky' }), ['Nice.'], ['Again.']])
  const { chunks } = await ask()
  const output = chunks.findIndex(({ type, toolCallId }) => type === 'tool-output-available' && toolCallId === 'c1')
  const [start, available, made, ...rest] = chunks.slice(output + 1)
  const id = String(start?.['toolCallId'])
  t.strictSame(start, { type: 'tool-input-start', toolCallId: id, toolName: 'artifact_card' })
  t.strictSame(available, { type: 'tool-input-available', toolCallId: id, toolName: 'artifact_card', input: { text: 'Seen: sky', from: 'us' }, providerMetadata: { parley: { artifact: 'card', artifactOf: 'c1' } } })
  t.match(made, { type: 'tool-output-available', toolCallId: id, output: { artifactId: String } })
  t.equal(rest[0]?.type, 'finish-step')
  t.match(given, [{ args: { at: 'sky' }, result: { saw: 'sky' }, isSignal: true, context: { callId: 'c1', toolName: 'look', threadId: 'thread-one', agentPath: [], runId: String, principal: { userId: String }, metadata: {} } }])

  const answer = await parts()
  t.match(answer.slice(1, 3), [{ type: 'tool-look' }, { type: 'tool-artifact_card', toolCallId: id, state: 'output-available', input: { text: 'Seen: sky' } }])
  t.match(await items(), [{ name: 'card', data: { text: 'Seen: sky', from: 'us' }, callId: id, sourceCallId: 'c1' }])
  await ask()
  for (const { messages, tools } of model.requests.slice(1)) t.notMatch(JSON.stringify([messages, tools]), /artifact/)
})

t.test('a tool may show nothing this time, and what cannot be shown is logged and left out', async (t) => {
  const { log, lines } = loggedService()
  const results: readonly unknown[] = [null, undefined, { text: 7 }, 'no object', new Error('SECRET'), 'for ever', { text: 'Fine' }]
  const build: BuildArtifact = async (_args, result) => {
    const what = results[(result as { n: number }).n]
    if (what instanceof Error) throw what
    return what === 'for ever' ? await new Promise(() => {}) : what
  }
  const count = defineTool({ name: 'count', input: z.object({ n: z.number() }), execute: (input) => input })
  const calls = results.map((_, n) => toolCall(`c${n}`, 'count', { n }))
  const { ask, items, model } = await serve(t, { tools: [count], toolConcurrency: 1, toolTimeoutMs: 80, toolArtifacts: { count: { artifact: card, build } } }, [calls.flat(), ['Done.']], log)
  const { body } = await ask()
  t.match(await items(), [{ data: { text: 'Fine' }, sourceCallId: 'c6' }])
  t.equal((await items()).length, 1)
  t.notMatch(body, /SECRET/)
  t.equal(model.requests[1]?.messages.filter(({ role }) => role === 'tool').length, results.length, 'the model has each result')
  const left = lines.filter(({ msg }) => msg === 'an artifact of a tool is left out')
  t.strictSame(left.map(({ callId }) => callId), ['c2', 'c3', 'c4', 'c5'])
  t.match(left[0], { level: 40, tool: 'count', artifact: 'card', issues: [{ path: 'text' }] })
})

t.test('calls that failed, were refused or denied show nothing', async (t) => {
  const bad = defineTool({ name: 'bad', execute: () => { throw new Error('no') } })
  const closed = defineTool({ name: 'closed', needsApproval: true, execute: () => 1 })
  let built = 0
  const source = { artifact: card, build: () => { built++; return { text: 'x' } } }
  const { ask, items } = await serve(t, { tools: [bad, closed, look], approveToolCall: () => false, toolArtifacts: { bad: source, closed: source, look: source } }, [[...toolCall('c1', 'bad'), ...toolCall('c2', 'closed'), ...toolCall('c3', 'look', { at: 7 })], ['Done.']])
  await ask()
  t.strictSame([built, await items()], [0, []])
})

t.test('a tool of an MCP server is shown too, its text of JSON as what it says', async (t) => {
  const server = await startMcpServer(t, { tools: { find: () => said('{"title":"Tides"}') } })
  const config = `{
    integrations: { far: { type: 'mcp', url: '${server.url}' } },
    agents: [{ key: 'tester', titleGeneration: false, integrations: ['far'], toolArtifacts: { far_find: {
      artifact: { name: 'book', data: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } },
      build: (args, result) => ({ title: result.title + '!' })
    } } }]
  }`
  const { url } = await startConfigured(t, { config, model: scriptedModel([toolCall('c1', 'far_find'), ['Found.']]), env: { EGRESS_ALLOW: '127.0.0.0/8' } })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Go' })
  t.match(await getJson(`${url}/v1/threads/thread-one/artifacts`), { items: [{ name: 'book', data: { title: 'Tides!' }, sourceCallId: 'c1' }] })
})

t.test('what the client answers is shown when the run goes on', async (t) => {
  const colour = defineTool({ name: 'colour', input: z.object({ of: z.string() }) })
  const build: BuildArtifact = ({ of }, result) => ({ text: `${String(of)} is ${String(result)}` })
  const { ask, messages, items, parts } = await serve(t, { tools: [colour], toolArtifacts: { colour: { artifact: card, build } } }, [toolCall('c1', 'colour', { of: 'sky' }), ['Blue it is.']])
  await ask()
  const { items: [, answer] } = await getJson(messages)
  const { chunks } = await post(messages, { message: { id: answer.id, role: 'assistant', parts: [{ type: 'tool-colour', toolCallId: 'c1', state: 'output-available', output: 'blue' }] } })
  t.strictSame(chunks.slice(1, 6).map(({ type }) => type), ['tool-output-available', 'tool-input-start', 'tool-input-available', 'tool-output-available', 'start-step'])
  t.match(await items(), [{ data: { text: 'sky is blue' }, sourceCallId: 'c1', messageId: answer.id }])
  t.match(await parts(), [{}, { type: 'tool-colour', output: 'blue' }, { type: 'tool-artifact_card' }, { type: 'step-start' }, { text: 'Blue it is.' }])
})

t.test('a tool that the provider runs is shown too', async (t) => {
  const search = { type: 'provider-tool', callId: 'p1', toolName: 'web_search' } as const
  const build: BuildArtifact = ({ query }, result) => ({ text: `${String(query)}: ${(result as { hits: number }).hits}` })
  const { ask, items, parts } = await serve(t, { toolArtifacts: { web_search: { artifact: card, build } } }, [[search, { ...search, outcome: { input: { query: 'tides' }, output: { hits: 3 }, failed: false } }, 'Three.']])
  await ask()
  t.match(await items(), [{ data: { text: 'tides: 3' }, sourceCallId: 'p1' }])
  t.strictSame((await parts()).map(({ type }) => type), ['step-start', 'tool-web_search', 'tool-artifact_card', 'text'])
})

t.test('hooks around tools leave submitted artifacts alone', async (t) => {
  const asked: string[] = []
  const { ask, items } = await serve(t, { artifacts: [card], tools: [look], beforeTool: ({ toolName }, _context, input) => { asked.push(toolName); return input }, afterTool: () => 'changed' }, [[...toolCall('c1', 'artifact_card', { text: 'Own' }), ...toolCall('c2', 'look')], ['Done.']])
  await ask()
  t.strictSame(asked, ['look'])
  t.match(await items(), [{ data: { text: 'Own' } }])
})

t.test('a required artifact is asked for until it is submitted', async (t) => {
  const { ask, items, model } = await serve(t, { artifacts: [card], requiredTools: ['artifact_card'] }, [['Here you are.'], toolCall('c1', 'artifact_card', { text: 'Own' }), ['Done.']])
  t.equal(textIn(await ask()), 'Done.')
  t.equal(model.requests.length, 3)
  t.match(await items(), [{ data: { text: 'Own' } }])
})

t.test('a stop ends what is being built', async (t) => {
  const { url, messages, items } = await serve(t, { tools: [look], toolArtifacts: shows(async () => await new Promise(() => {})) }, [toolCall('c1', 'look'), ['never']])
  const stream = await openStream(messages, { text: 'Go' })
  await until('the tool has answered', () => stream.body().includes('"tool-output-available"'))
  await send(url, 'POST', '/v1/threads/thread-one/stop')
  t.strictSame(await stream.ended, { cut: false })
  t.strictSame(await items(), [])
})

t.test('a headless run shows nothing: its tools run as usual', async (t) => {
  let built = 0
  const { url, model, items } = await serve(t, { tools: [look], artifacts: [card], toolArtifacts: shows(() => { built++; return { text: 'x' } }) }, [[...toolCall('c1', 'look'), ...toolCall('c2', 'artifact_card', { text: 'Own' })], ['Done.']])
  const { json } = await send(url, 'POST', '/v1/agents/tester/run', { body: { input: 'Go', tools: true, threadId: 'thread-one' } })
  t.match(json, { text: 'Done.', toolCalls: [{ toolName: 'look', output: { saw: 'sea' } }, { toolName: 'artifact_card', output: { artifactId: String } }] })
  t.equal(json.toolCalls.length, 2)
  t.equal(built, 0)
  t.equal(model.requests.length, 2)
  t.match(await items(), [{ data: { text: 'Own' } }], 'what its model submits is kept')
})

for (const [subagentStream, calls] of [['tools', ['tool-helper', 'tool-look', 'tool-artifact_card', 'tool-artifact_card']], ['none', ['tool-helper', 'tool-artifact_card', 'tool-artifact_card']]] as const) {
  t.test(`members make artifacts, which are theirs, where members show ${subagentStream}`, async (t) => {
    const helper = { tools: [look], artifacts: [card], toolArtifacts: shows((_args, result) => ({ text: JSON.stringify(result) })) }
    const { ask, parts, items, models } = await crew(t, { key: 'tester', agents: ['helper'], subagentStream }, helper, {
      root: [toolCall('d1', 'helper', { task: 'Look' }), ['Done.'], ['Again.']],
      helper: [[...toolCall('c1', 'look'), ...toolCall('c2', 'artifact_card', { text: 'Submitted' })], ['Looked.']]
    })
    await ask()
    const tools = (await parts()).filter((part) => part['toolCallId'] !== undefined && part['state'] === 'output-available')
    t.strictSame(tools.map(({ type }) => type).sort(), [...calls].sort())
    const by = { agent: 'helper', parentToolCallId: 'd1', agentPath: [{ name: 'helper', toolCallId: 'd1' }] }
    for (const part of tools.filter(({ type }) => type === 'tool-artifact_card')) t.match(part['callProviderMetadata'], { parley: { artifact: 'card', ...by } })
    t.match((await items()).map(({ data }) => data).sort((a, b) => a.text < b.text ? 1 : -1), [{ text: '{"saw":"sea"}' }, { text: 'Submitted' }])
    t.match((await items())[0], { agentPath: by.agentPath })
    await ask()
    const told = models.root.requests.at(-1)?.messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map(({ toolName }) => toolName) : [])
    t.strictSame(told, ['helper'], 'their calls are not told again')
  })
}

t.test('a delegation is a tool as any other', async (t) => {
  const { ask, items } = await crew(t, { key: 'tester', agents: ['helper'], toolArtifacts: { helper: { artifact: card, build: ({ task }, result) => ({ text: `${String(task)} ${String(result).split('\n')[0]}` }) } } }, {}, {
    root: [toolCall('d1', 'helper', { task: 'Look' }), ['Done.']], helper: [['Looked.']]
  })
  await ask()
  t.match(await items(), [{ data: { text: 'Look Looked.' }, sourceCallId: 'd1' }])
})

t.test('the artifacts of an agent that steps ask are the user’s too', async (t) => {
  const steps = stepsAttributes<object>({ key: 'tester', agents: ['helper'], initial: {}, steps: [askAgent('helper', { task: () => 'Look' })] })
  const { ask, parts, items } = await crew(t, steps, { tools: [look], artifacts: [card] }, { root: [], helper: [[...toolCall('c1', 'look'), ...toolCall('c2', 'artifact_card', { text: 'Submitted' })], ['Looked.']] })
  await ask()
  t.strictSame((await parts()).map(({ type }) => type), ['step-start', 'tool-artifact_card', 'text'])
  t.match(await items(), [{ data: { text: 'Submitted' }, agentPath: [{ name: 'helper' }] }])
})

async function serve (t: Test, agent: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]>, log?: FastifyBaseLogger) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', ...agent }], ...(log === undefined ? {} : { log }) })
  return { url, model, ...threadAt(url) }
}

async function crew (t: Test, root: AgentDefinition, helper: Partial<AgentDefinition>, scripts: Record<'root' | 'helper', ReadonlyArray<readonly ScriptStep[]>>) {
  const models = { root: scriptedModel(scripts.root, { id: 'test:root' }), helper: scriptedModel(scripts.helper, { id: 'test:helper' }) }
  const { url } = await startApp(t, { models: { get: (id) => id === 'test:helper' ? models.helper : models.root, defaultModel: 'test:root' }, agents: [root, { key: 'helper', model: 'test:helper', hidden: true, ...helper }] })
  return { url, models, ...threadAt(url) }
}

function threadAt (url: string) {
  const messages = `${url}/v1/threads/thread-one/messages`
  return {
    messages,
    ask: () => post(messages, { text: 'Go' }),
    items: async (): Promise<ReadonlyArray<{ readonly data: { readonly text: string }, readonly agentPath: unknown }>> => (await getJson(`${url}/v1/threads/thread-one/artifacts`)).items,
    /** Of the first answer. */
    parts: async (): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => (await getJson(messages)).items[1].parts
  }
}
