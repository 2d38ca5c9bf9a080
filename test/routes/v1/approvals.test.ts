import t, { type Test } from 'tap'
import { z } from 'zod'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, post, startApp, until, type TestAppOptions } from '../../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'

interface Pending { readonly id: string, readonly toolName: string, readonly agentPath: readonly { readonly name: string }[] }

/** A service whose gated tools write down what they did. */
async function serve (t: Test, scripts: Readonly<Record<string, ReadonlyArray<readonly ScriptStep[]>>>, agents: ReadonlyArray<{ key: string, agents?: string[], needsApproval?: boolean, subagentStream?: 'none' }>, options: Pick<TestAppOptions, 'databaseUrl' | 'env'> = {}) {
  const done: string[] = []
  const send = defineTool({ name: 'send', input: z.object({ to: z.string() }), needsApproval: true, execute: ({ to }) => { done.push(to); return `sent to ${to}` } })
  const free = defineTool({ name: 'free', input: z.object({ n: z.number() }), execute: ({ n }) => { done.push(`free ${n}`); return n } })
  const models = Object.fromEntries(Object.entries(scripts).map(([key, responses]) => [`test:${key}`, scriptedModel(responses, { id: `test:${key}` })]))
  const service = await startApp(t, {
    models: { get: (id) => models[id]!, defaultModel: 'test:root' },
    agents: agents.map((agent) => ({ model: `test:${agent.key}`, tools: [send, free], ...agent })),
    ...options
  })
  const thread = `${service.url}/v1/threads/gated-thread`
  return {
    ...service, done, models, thread,
    ask: (text = 'Go') => post(`${thread}/messages`, { text, agentId: 'root' }),
    pending: async () => (await getJson(`${thread}/approvals`) as { items: Pending[] }).items,
    decide: (id: string, body: object) => fetch(`${service.url}/v1/approvals/${id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    /** The newest message, once nothing runs. */
    answer: async () => {
      await until('nothing runs', async () => (await fetch(`${thread}/stream`)).status === 204)
      return (await getJson(`${thread}/messages`) as { items: { parts: Record<string, unknown>[], metadata: Record<string, unknown> }[] }).items.at(-1)!
    }
  }
}

const send = (id: string, to: string) => toolCall(id, 'send', { to })
const root = [{ key: 'root' }]

t.test('a gated call waits, the others of its batch run, and an approval lets the same message go on', async (t) => {
  const { ask, done, pending, decide, answer } = await serve(t, { root: [['Wait. ', ...send('c1', 'ada'), ...toolCall('c2', 'free', { n: 1 })], ['All sent.']] }, root)
  const { chunks } = await ask()
  t.match(chunks.slice(-3), [{ type: 'tool-approval-request', toolCallId: 'c1' }, { type: 'finish-step' }, { type: 'finish', finishReason: 'tool-calls' }])
  t.strictSame(done, ['free 1'])
  const [approval] = await pending()
  t.match(approval, { toolName: 'send', callId: 'c1', input: { to: 'ada' }, status: 'pending', agentPath: [] })
  t.match((await answer()).parts.find(({ toolCallId }) => toolCallId === 'c1'), { state: 'approval-requested', approval: { id: approval!.id } })

  const decided = await decide(approval!.id, { approved: true })
  t.match(await decided.json(), { status: 'approved', resumedRunId: String })
  const { parts, metadata } = await answer()
  t.match(metadata, { status: 'completed', finishReason: 'stop', usage: { input: 20, output: 10 } })
  t.match(parts.find(({ toolCallId }) => toolCallId === 'c1'), { state: 'output-available', output: 'sent to ada', approval: { id: approval!.id, approved: true } })
  t.match(parts.at(-1), { type: 'text', text: 'All sent.' })
  t.strictSame(done, ['free 1', 'ada'])
  t.strictSame(await pending(), [])
})

t.test('a denied call never runs, and the model hears why', async (t) => {
  const { ask, done, pending, decide, answer, models } = await serve(t, { root: [send('c1', 'ada'), ['Then not.']] }, root)
  await ask()
  const [{ id } = { id: '' }] = await pending()
  t.equal((await decide(id, { approved: false, reason: 'Not on a Friday.' })).status, 200)
  const { parts } = await answer()
  t.match(parts.find(({ toolCallId }) => toolCallId === 'c1'), { state: 'output-denied', approval: { id, approved: false, reason: 'Not on a Friday.' } })
  t.match(models['test:root']!.requests.at(-1)?.messages.at(-1), { role: 'tool', content: 'Denied: Not on a Friday.' })
  t.strictSame(done, [])
  t.equal((await decide(id, { approved: false })).status, 200, 'the same verdict again')
  const late = await decide(id, { approved: true })
  t.equal(late.status, 409)
  t.match(await late.json(), { code: 'conflict', details: { reason: 'decided' } })
  t.equal((await decide('nobodys', { approved: true })).status, 404)
  t.equal((await decide(id, { approved: 'yes' })).status, 400)
})

t.test('of two tabs that decide at once, one is first: the same verdict is no fault, another one is', async (t) => {
  for (const [verdicts, statuses] of [[[true, true], [200, 200]], [[true, false], [200, 409]]] as const) {
    const { ask, done, pending, decide, answer } = await serve(t, { root: [send('c1', 'ada'), ['Decided.']] }, root)
    await ask()
    const [{ id } = { id: '' }] = await pending()
    const replies = await Promise.all(verdicts.map((approved) => decide(id, { approved })))
    t.strictSame(replies.map(({ status }) => status).sort(), statuses)
    for (const reply of replies) if (reply.status === 409) t.match(await reply.json(), { details: { reason: 'decided' } })
    t.match((await answer()).metadata, { status: 'completed' })
    t.ok(done.length <= 1)
  }
})

t.test('what waits is gone on with by the agent that asked, whoever the thread is given to meanwhile', async (t) => {
  const { ask, done, pending, decide, answer, thread } = await serve(t, { root: [send('c1', 'ada'), ['By root.']], other: [['By other.']] }, [{ key: 'root' }, { key: 'other' }])
  await ask()
  const [{ id } = { id: '' }] = await pending()
  const patched = await fetch(thread, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"agentId":"other"}' })
  t.equal(patched.status, 200)
  t.equal((await decide(id, { approved: true })).status, 200)
  t.match((await answer()).parts.at(-1), { text: 'By root.' })
  t.strictSame(done, ['ada'])
})

t.test('a new message goes on without what waits', async (t) => {
  const { ask, done, pending, decide, answer } = await serve(t, { root: [send('c1', 'ada'), ['Another answer.']] }, root)
  await ask()
  const [{ id } = { id: '' }] = await pending()
  t.match((await ask('Never mind')).chunks.at(-1), { type: 'finish', finishReason: 'stop' })
  t.match((await answer()).parts.at(-1), { text: 'Another answer.' })
  const late = await decide(id, { approved: true })
  t.equal(late.status, 409)
  t.match(await late.json(), { details: { reason: 'superseded' } })
  t.strictSame(done, [])
})

t.test('two members wait in parallel, one of them twice, one gated itself, over restarts: each call runs once, a denied one never', async (t) => {
  const agents = [{ key: 'root', agents: ['a', 'b'] }, { key: 'a', agents: [] }, { key: 'b', needsApproval: true }]
  const scripts = {
    root: [[...toolCall('da', 'a', { task: 'one' }), ...toolCall('db', 'b', { task: 'two' })], ['Done.']],
    a: [send('a1', 'first'), send('a2', 'second'), ['A is done.']],
    b: [[...send('b1', 'third'), ...toolCall('b2', 'free', { n: 2 })], ['B is done.']]
  }
  let service = await serve(t, scripts, agents)
  const done: string[] = []
  let asked: Record<string, number> = {}
  await service.ask()
  const round = async (verdicts: Readonly<Record<string, boolean>>) => {
    // Each round in a new process, as far as the service can tell; models go on where they were.
    done.push(...service.done)
    asked = Object.fromEntries(Object.entries(service.models).map(([id, model]) => [id.slice(5), (asked[id.slice(5)] ?? 0) + model.requests.length]))
    const { databaseUrl } = service
    await service.app.close()
    service = await serve(t, Object.fromEntries(Object.entries(scripts).map(([key, responses]) => [key, responses.slice(asked[key])])), agents, { databaseUrl })
    const pending = await service.pending()
    t.strictSame(pending.map(({ toolName, agentPath }) => [...agentPath.map(({ name }) => name), toolName].join('/')).sort(), Object.keys(verdicts).sort())
    for (const { id, toolName, agentPath } of pending) {
      const approved = verdicts[[...agentPath.map(({ name }) => name), toolName].join('/')]
      t.equal((await service.decide(id, { approved })).status, 200)
    }
    return await service.answer()
  }
  await round({ b: true, 'a/send': true })
  await round({ 'a/send': false, 'b/send': true })
  done.push(...service.done)
  t.strictSame(done.sort(), ['first', 'free 2', 'third'])
  const { parts, metadata } = await service.answer()
  t.match(metadata, { status: 'completed' })
  t.match(parts.at(-1), { text: 'Done.' })
  const part = (id: string) => parts.find(({ toolCallId }) => toolCallId === id)
  t.match(part('a2'), { state: 'output-denied' })
  t.match(part('b1'), { state: 'output-available', callProviderMetadata: { parley: { agent: 'b', parentToolCallId: 'db' } } })
  t.match(part('da'), { output: /^A is done\./, callProviderMetadata: { parley: { handoff: 'a' } } })
  t.match(part('db'), { output: /^B is done\./ })
})

t.test('hidden members show what waits for somebody, and what came of it, and nothing else', async (t) => {
  const agents = [{ key: 'root', agents: ['a'], subagentStream: 'none' as const }, { key: 'a', agents: ['b'] }, { key: 'b' }]
  const { ask, pending, decide, answer, done } = await serve(t, {
    root: [toolCall('da', 'a', { task: 'one' }), ['Done.']],
    a: [toolCall('db', 'b', { task: 'two' }), ['A.']],
    b: [toolCall('b0', 'free', { n: 1 }), send('b1', 'ada'), ['B.']]
  }, agents)
  const { chunks } = await ask()
  const calls = (types: string) => chunks.filter(({ type }) => type === types).map(({ toolCallId }) => toolCallId)
  t.strictSame([calls('tool-input-start'), calls('tool-approval-request')], [['da', 'b1'], ['b1']])
  const [{ id } = { id: '' }] = await pending()
  t.equal((await decide(id, { approved: true })).status, 200)
  const { parts } = await answer()
  t.strictSame(done, ['free 1', 'ada'])
  t.strictSame(parts.filter(({ toolCallId }) => toolCallId !== undefined).map(({ toolCallId, state }) => [toolCallId, state]), [['da', 'output-available'], ['b1', 'output-available']])
})

t.test('what nobody decides is denied when its time is up, and the run goes on', async (t) => {
  const { ask, app, pending, answer, done, decide, models } = await serve(t, { root: [send('c1', 'ada'), ['Without it.']] }, root, { env: { APPROVAL_TTL_MS: '1' } })
  await ask()
  const [{ id } = { id: '' }] = await pending()
  const late = await decide(id, { approved: true })
  t.equal(late.status, 409)
  t.match(await late.json(), { details: { reason: 'expired' } })
  t.equal(await app.approvals.expire(), 1)
  t.match(await answer(), { metadata: { status: 'completed' } })
  t.match(models['test:root']!.requests.at(-1)?.messages.at(-1), { role: 'tool', content: 'Denied: expired' })
  t.strictSame(done, [])
  t.match(await (await decide(id, { approved: true })).json(), { details: { reason: 'expired' } })
})
