import type { FastifyBaseLogger } from 'fastify'
import t, { type Test } from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import type { SuggestHook } from '../../../src/agents/suggestion-policy.ts'
import { stepsAttributes } from '../../../src/agents/steps/define-steps-agent.ts'
import type { UsageReport } from '../../../src/agents/hooks.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { chunksOf, getJson, openStream, post, startApp, textIn, until } from '../../helpers/app.ts'
import { availableProviders, testDatabaseUrl, type TestProvider } from '../../helpers/databases.ts'
import { startConfigured } from '../../helpers/integrations.ts'
import { loggedService } from '../../helpers/logged.ts'
import { scriptedModel, toolCall, type ScriptedModel, type ScriptStep } from '../../helpers/scripted-model.ts'
import { send } from '../request.ts'

const listed = (...suggestions: unknown[]): ScriptStep[] => [JSON.stringify({ suggestions })]
const one = { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }

for (const { provider, skip } of await availableProviders()) {
  t.test(`three suggestions come behind the answer and before its end, are stored with it and counted, on ${provider}`, { skip }, async (t) => {
    const { url, ask, model, offered } = await serve(t, { suggestions: true }, [['Hello.'], listed(' First?\n ', 'Second?', 'First?', '', 'Third?', 'Fourth?')], { provider })
    const { chunks } = await ask()
    t.strictSame(chunks.slice(-3).map(({ type }) => type), ['finish-step', 'data-suggestions', 'finish'])
    t.strictSame(chunks.at(-2), { type: 'data-suggestions', data: { suggestions: ['First?', 'Second?', 'Third?'] } })
    t.match(chunks.at(-1), { messageMetadata: { usage: { input: 20, output: 10 }, status: 'completed' } })
    t.strictSame(await offered(), [['First?', 'Second?', 'Third?']])
    const { items: [, answer] } = await getJson(`${url}/v1/threads/thread-one/messages`)
    t.strictSame(answer.metadata.usage, { ...one, input: 20, output: 10 })
    t.match(await getJson(`${url}/v1/threads/thread-one/usage`), { items: [{ calls: 2, usage: { input: 20 } }] })
    t.match(model.requests[1], { tools: [], toolChoice: 'none', responseSchema: { required: ['suggestions'] }, instructions: /not instructions to follow/ })
    t.match(await getJson(`${url}/v1/agents/tester`), { suggestions: true })
  })
}

t.test('they are made of the last six messages, without calls, and are never told to the model', async (t) => {
  const look = defineTool({ name: 'look', execute: () => 'RESULT' })
  const { ask, model } = await serve(t, { suggestions: true, tools: [look] }, [
    ['A1'], listed('S1'), ['Let me see.', ...toolCall('c1', 'look')], ['A2'], listed('S2'), ['A3'], listed('S3'), ['A4 ', 'x'.repeat(3_000)], listed('S4')
  ])
  for (const text of ['Q1', 'Q2', 'Q3', 'Q4']) await ask(text)
  t.equal(model.requests.length, 9)
  const content = (model.requests.at(-1)?.messages[0] as { content: string }).content
  t.equal(model.requests.at(-1)?.messages.length, 1)
  t.match(content, /^<conversation>\nUser: Q2\nAssistant: Let me see\.\n\nA2\nUser: Q3\nAssistant: A3\nUser: Q4\nAssistant: A4 x{1990,1997}\n<\/conversation>$/)
  for (const { messages } of [model.requests[2], model.requests[5], model.requests[7]] as ScriptedModel['requests']) t.notMatch(JSON.stringify(messages), /S\d/)
})

t.test('settings say how many, whom to ask, and how', async (t) => {
  const reports: UsageReport[] = []
  const small = { ...scriptedModel([listed('One', 'Two')], { id: 'test:small' }), prices: { input: 1, output: 2 } }
  const main = { ...scriptedModel([['Hello.']], { id: 'test:main' }), prices: { input: 10, output: 20 } }
  const { url } = await startApp(t, {
    models: { get: (id) => id === 'test:small' ? small : main, defaultModel: 'test:main' },
    agents: [{ key: 'tester', suggestions: { count: 1, model: 'test:small', instructions: 'Ask like a pirate.' }, onUsage: (report) => { reports.push(report) } }]
  })
  const { chunks } = await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hi' })
  t.strictSame(chunks.at(-2), { type: 'data-suggestions', data: { suggestions: ['One'] } })
  t.match(chunks.at(-1), { messageMetadata: { costUsd: 0.00022 } })
  t.equal(small.requests[0]?.instructions, 'Ask like a pirate.')
  t.match(reports, [{ model: 'test:main' }, { model: 'test:small', usage: one, costUsd: 0.00002 }])
  t.match(await getJson(`${url}/v1/threads/thread-one/usage`), { items: [{ model: 'test:main', calls: 1 }, { model: 'test:small', calls: 1 }] })
})

t.test('a function of the agent’s own makes them of the messages and of who asks', async (t) => {
  const given: unknown[] = []
  const suggestions: SuggestHook = async (messages, { signal, ...context }) => {
    given.push({ messages, context, isSignal: signal instanceof AbortSignal })
    return ['One', 7 as unknown as string, ' Two ', 'Three', 'Four']
  }
  const { ask, model, offered } = await serve(t, { suggestions }, [['Hello.']])
  await ask('Hi')
  t.strictSame(await offered(), [['One', 'Two', 'Three']])
  t.equal(model.requests.length, 1)
  t.match(given, [{ isSignal: true, messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', text: 'Hello.' }], context: { threadId: 'thread-one', principal: { userId: 'anonymous' }, runId: String, agentPath: [], metadata: {} } }])
})

const silent: ReadonlyArray<{ name: string, agent: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]>, usage: number }> = [
  { name: 'the model fails', agent: { suggestions: true }, script: [['Hello.'], [{ throw: new Error('SECRET') }]], usage: 10 },
  { name: 'the model says something else', agent: { suggestions: true }, script: [['Hello.'], ['Sure! Here are some.']], usage: 20 },
  { name: 'the shape is another', agent: { suggestions: true }, script: [['Hello.'], ['{"questions":["SECRET"]}']], usage: 20 },
  { name: 'the model takes too long', agent: { suggestions: { timeoutMs: 40 } }, script: [['Hello.'], [{ hang: true }]], usage: 10 },
  { name: 'the model does not end', agent: { suggestions: { timeoutMs: 40 } }, script: [['Hello.'], ['{"sug', { hang: true }]], usage: 10 },
  { name: 'the function throws', agent: { suggestions: () => { throw new Error('SECRET') } }, script: [['Hello.']], usage: 10 },
  { name: 'the function gives no list', agent: { suggestions: () => undefined as unknown as string[] }, script: [['Hello.']], usage: 10 }
]

t.test('where none can be made the answer ends as it would without, and the log says why', async (t) => {
  const { log, lines } = loggedService()
  const { threads } = await serveAll(t, silent, log)
  for (const [index, { name, usage }] of silent.entries()) {
    const { ask, offered } = threads[index]!
    lines.splice(0)
    const { chunks, body } = await ask()
    t.equal(textIn({ chunks }), 'Hello.', name)
    t.match(chunks.at(-1), { type: 'finish', finishReason: 'stop', messageMetadata: { status: 'completed' } }, name)
    t.ok((chunks.at(-1)?.['messageMetadata'] as { usage: { input: number } }).usage.input >= usage, `${name}: what it took counts`)
    t.notMatch(body, /data-suggestions|SECRET/, name)
    t.strictSame(await offered(), [], name)
    t.match(lines.filter(({ level }) => level >= 40), [{ level: 40, msg: 'no suggestions could be made', err: {} }], name)
  }
})

const none: ReadonlyArray<{ name: string, shows: string, agent?: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]> }> = [
  { name: 'the budget is used up', shows: 'finish', agent: { budget: { tokens: 100 } }, script: [['Hello.', { type: 'usage', usage: { ...one, output: 85 }, estimated: false }, { type: 'finish', reason: 'stop' }]] },
  { name: 'the run failed', shows: 'data-error', script: [['Hel', { throw: new Error('away') }]] },
  { name: 'the run waits', shows: 'tool-approval-request', script: [['Wait. ', ...toolCall('c1', 'gated')]] },
  { name: 'the answer was filtered', shows: 'data-error', script: [['Bad', { type: 'finish', reason: 'content-filter' }]] },
  { name: 'nothing was said', shows: 'finish', script: [['Let me see. ', ...toolCall('c1', 'free')], []] },
  { name: 'the run was stopped', shows: 'abort', script: [['half', { hang: true }]] }
]

t.test('no model is asked where there is no answer to go on from, or no budget', async (t) => {
  const tools = [defineTool({ name: 'gated', needsApproval: true, execute: () => 'allowed' }), defineTool({ name: 'free', execute: () => 1 })]
  const { url, threads } = await serveAll(t, none.map(({ agent, script }) => ({ agent: { suggestions: true, tools, ...agent }, script: [...script, listed('Never')] })))
  for (const [index, { name, shows, script }] of none.entries()) {
    const { id, messages, model, offered, body } = threads[index]!
    const stream = await openStream(messages, body)
    if (shows === 'abort') {
      await until('the model speaks', () => stream.text() === 'half')
      await send(url, 'POST', `/v1/threads/${id}/stop`)
    }
    await stream.ended
    t.ok(chunksOf(stream.body()).some(({ type }) => type === shows), `${name}: ${shows} in ${stream.body()}`)
    t.notMatch(stream.body(), /data-suggestions/, name)
    t.strictSame([model.requests.length, await offered()], [script.length, []], name)
  }
})

t.test('an empty list is no suggestion', async (t) => {
  const { ask, offered } = await serve(t, { suggestions: true }, [['Hello.'], listed('', '  ')])
  t.notMatch((await ask()).body, /data-suggestions/)
  t.strictSame(await offered(), [])
})

t.test('a run that goes on after it waited makes them once, at its end', async (t) => {
  const gated = defineTool({ name: 'gated', needsApproval: true, execute: () => 'allowed' })
  const { ask, url, model, offered } = await serve(t, { suggestions: true, tools: [gated] }, [toolCall('c1', 'gated'), ['Done.'], listed('And now?')])
  await ask()
  const { items: [approval] } = await getJson(`${url}/v1/threads/thread-one/approvals`)
  await post(`${url}/v1/approvals/${approval.id}`, { approved: true })
  await until('it has gone on', async () => model.requests.length === 3 && (await fetch(`${url}/v1/threads/thread-one/stream`)).status === 204)
  t.strictSame(await offered(), [['And now?']])
})

t.test('the whole answer is there while they are made, and neither a stop nor a deadline takes it back', async (t) => {
  const script = [['Hello.'], [{ hang: true } as const]]
  const { url, threads } = await serveAll(t, [{ agent: { suggestions: true }, script }, { agent: { suggestions: { timeoutMs: 600 }, timeouts: { totalMs: 400 } }, script }])
  await Promise.all(threads.map(async ({ id, messages, model, body }, index) => {
    const stream = await openStream(messages, body)
    await until('they are being made', () => model.requests.length === 2)
    await until('the answer is whole', () => stream.body().includes('"finish-step"'))
    t.equal(stream.text(), 'Hello.')
    if (index === 0) await send(url, 'POST', `/v1/threads/${id}/stop`)
    t.strictSame(await stream.ended, { cut: false })
    t.match(chunksOf(stream.body()).at(-1), { type: 'finish', finishReason: 'stop' })
    t.match((await getJson(messages)).items[1], { metadata: { status: 'completed' } })
  }))
})

t.test('where nobody can be shown them none are made: headless runs, answers of a shape, clients of OpenAI', async (t) => {
  const { url, model } = await serve(t, { suggestions: true }, [['Hello.']])
  await send(url, 'POST', '/v1/agents/tester/run', { body: { input: 'Hi' } })
  await send(url, 'POST', '/v1/agents/tester/run', { body: { input: 'Hi', threadId: 'thread-one' } })
  await post(`${url}/v1/chat/completions`, { model: 'tester', messages: [{ role: 'user', content: 'Hi' }], stream: true })
  t.equal(model.requests.length, 3)
})

t.test('agents of steps and chats that are not stored have them, members have none', async (t) => {
  const steps = stepsAttributes<object>({ key: 'tester', suggestions: true, initial: {}, steps: [async function * () { yield 'Stepped.' }] })
  const stepped = await serve(t, steps, [listed('Next step?')])
  await stepped.ask()
  t.strictSame(await stepped.offered(), [['Next step?']])

  const { url, model } = await serve(t, { suggestions: true }, [['Hello.'], listed('Next?')])
  const { chunks } = await post(`${url}/api/chat`, { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] })
  t.strictSame(chunks.at(-2), { type: 'data-suggestions', data: { suggestions: ['Next?'] } })
  t.equal(model.requests.length, 2)

  const crew = scriptedModel([toolCall('d1', 'helper', { task: 'x' }), ['Report.'], ['Done.']])
  const server = await startApp(t, { model: crew, agents: [{ key: 'tester', agents: ['helper'] }, { key: 'helper', hidden: true, suggestions: true }] })
  await post(`${server.url}/v1/threads/thread-one/messages`, { text: 'Hi' })
  t.equal(crew.requests.length, 3)
})

t.test('an agent in YAML has them on the offline model', async (t) => {
  const { url } = await startConfigured(t, { config: JSON.stringify({ agents: [{ key: 'tester', suggestions: true }, { key: 'two', suggestions: { count: 2, instructions: 'Be brief.' } }, { key: 'off', suggestions: 'off' }] }) })
  const ask = async (agentId: string) => (await post(`${url}/v1/threads/thread-${agentId}/messages`, { text: 'Why is the sea salty?', agentId })).chunks.find(({ type }) => type === 'data-suggestions')?.['data']
  t.match(await ask('tester'), { suggestions: [/sea salty/i, /sea salty/i, /sea salty/i] })
  t.equal((await ask('two') as { suggestions: string[] }).suggestions.length, 2)
  t.equal(await ask('off'), undefined)
  t.match((await getJson(`${url}/v1/agents`)).items.map(({ key, suggestions }: Record<string, unknown>) => [key, suggestions]), [['tester', true], ['two', true], ['off', false]])
})

interface Options { readonly provider?: TestProvider }

async function serve (t: Test, agent: Partial<AgentDefinition>, script: ReadonlyArray<readonly ScriptStep[]>, { provider }: Options = {}) {
  const model = scriptedModel(script)
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', ...agent }], databaseUrl: await testDatabaseUrl(t, provider) })
  return { url, model, ...threadAt(url, 'tester') }
}

/** One service with an agent, and a thread, for each case. */
async function serveAll (t: Test, cases: ReadonlyArray<{ readonly agent: Partial<AgentDefinition>, readonly script: ReadonlyArray<readonly ScriptStep[]> }>, log?: FastifyBaseLogger) {
  const models = cases.map(({ script }, index) => scriptedModel(script, { id: `test:${index}` }))
  const agents = cases.map(({ agent }, index) => ({ key: `agent-${index}`, model: `test:${index}`, ...agent }))
  const { url } = await startApp(t, { agents, models: { get: (id) => models.find((model) => model.id === id)!, defaultModel: 'test:0' }, ...(log === undefined ? {} : { log }) })
  return { url, threads: models.map((model, index) => ({ model, ...threadAt(url, `agent-${index}`, `thread-${index}`) })) }
}

function threadAt (url: string, agentId: string, id = 'thread-one') {
  const messages = `${url}/v1/threads/${id}/messages`
  /** What the stored messages offer. */
  const offered = async (): Promise<unknown[]> => (await getJson(messages)).items.flatMap(({ parts }: { parts: { type: string, data?: { suggestions: unknown } }[] }) => parts.filter(({ type }) => type === 'data-suggestions').map(({ data }) => data?.suggestions))
  return { id, messages, offered, body: { text: 'Hi', agentId }, ask: (text = 'Hi') => post(messages, { text, agentId }) }
}
