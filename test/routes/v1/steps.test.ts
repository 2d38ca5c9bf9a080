import t, { type Test } from 'tap'
import { z } from 'zod'
import { askAgent, askModel, callTool } from '../../../src/agents/steps/ask.ts'
import { concurrent } from '../../../src/agents/steps/concurrent.ts'
import { stepsAttributes, type StepsAgentDefinition } from '../../../src/agents/steps/define-steps-agent.ts'
import type { Step } from '../../../src/agents/steps/step.ts'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { AppError } from '../../../src/errors.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { foldStream } from '../../helpers/ai-clients.ts'
import { getJson, openStream, post, startApp, textIn, until } from '../../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { send } from '../request.ts'

interface Notes { readonly notes: readonly string[] }

const note = (state: Notes, text: unknown): Notes => ({ notes: [...state.notes, String(text)] })
const told: Step<Notes> = async function * ({ notes }) { yield notes.join(' | ') }
const tell = (text: string): Step<Notes> => async function * () { yield text }
const asksHelper = askAgent<Notes>('helper', { task: (_state, { question }) => `About: ${question}`, into: note })

const look = defineTool({ name: 'look', input: z.object({ at: z.string() }), execute: ({ at }) => `saw ${at}` })

t.test('a chat with an agent of steps is told as it goes, and the same after a reload', async (t) => {
  const file: Step<Notes> = async function * () {
    yield { type: 'progress', message: 'half', fraction: 0.5 }
    yield { type: 'file', mediaType: 'text/csv', url: 'https://files.example/a.csv', name: 'a.csv' }
    yield 'with a file'
  }
  const { messages, ask } = await serve(t, { steps: [tell('One'), askModel({ question: () => ({}), into: note }), file, callTool(look, { input: () => ({ at: 'sea' }), into: note }), told], scripts: { root: [['Two', ' three']] } })
  const { body, chunks } = await ask()
  const { message, errors } = await foldStream('ai6', body)
  t.strictSame(errors, [])
  t.strictSame(message?.parts.filter(({ type }) => type === 'text').map(({ text }) => text), ['One', 'Two three', 'with a file', 'Two three | saw sea'])
  t.match(chunks.filter(({ type }) => type === 'data-progress'), [{ data: { message: 'half', fraction: 0.5 }, transient: true }])
  t.match(chunks.at(-1), { type: 'finish', finishReason: 'stop' })
  const { items: [, answer] } = await getJson(messages)
  t.strictSame(answer.parts, message?.parts)
  t.match(answer.metadata, { status: 'completed', usage: { input: 10, output: 5 } })
})

t.test('the next turn of a thread is given the whole conversation', async (t) => {
  const { ask, models } = await serve(t, { steps: [askModel({ question: () => ({}) })], scripts: { root: [['First.'], ['Second.']] } })
  await ask('One?')
  await ask('Two?')
  t.match(models['test:root']!.requests[1]!.messages, [{ content: 'One?' }, { text: 'First.' }, { content: 'Two?' }])
})

t.test('a stop in the middle of a step ends the run and what it waits for; what was said stands', async (t) => {
  const { url, messages, models } = await serve(t, { steps: [tell('One'), askModel({ question: () => ({}) }), tell('never')], scripts: { root: [['Two', { hang: true }]] } })
  const stream = await openStream(messages, { text: 'Go', agentId: 'root' })
  await until('the model speaks', () => stream.text() === 'OneTwo')
  t.equal((await send(url, 'POST', '/v1/threads/thread-one/stop')).status, 200)
  t.strictSame(await stream.ended, { cut: false })
  t.equal(models['test:root']!.closed(), 1)
  const { items: [, answer] } = await getJson(messages)
  t.match(answer, { metadata: { status: 'stopped' }, parts: [{ type: 'step-start' }, { text: 'One' }, { type: 'step-start' }, { text: 'Two', state: 'done' }] })
})

t.test('a step that fails fails the answer, which keeps what was said', async (t) => {
  const { messages, ask } = await serve(t, { steps: [tell('One'), async function * () { throw new AppError('provider_unavailable', 'It is away.') }] })
  t.match((await ask()).chunks.find(({ type }) => type === 'error'), { errorText: /It is away/ })
  t.match((await getJson(messages)).items[1], { metadata: { status: 'failed' }, parts: [{}, { text: 'One' }] })
})

t.test('the run route answers with all that the steps said, or a value of the shape', async (t) => {
  const { url } = await serve(t, { steps: [tell('One'), callTool(look, { input: () => ({ at: 'sea' }), into: note }), askModel({ question: () => ({}) })], scripts: { root: [['Two']] } })
  t.match((await post(`${url}/v1/agents/root/run`, { messages: [{ role: 'user', content: 'Go' }] })).body, /"text":"One\\n\\nTwo"/)
  const shaped = await serve(t, { steps: [tell('{"n":7}'), tell('and more')], agent: { responseFormat: z.object({ n: z.number() }) } })
  t.match(JSON.parse((await post(`${shaped.url}/v1/agents/root/run`, { messages: [{ role: 'user', content: 'Go' }] })).body), { code: 'provider_unavailable' }, 'the answer is that of all steps')
  const whole = await serve(t, { steps: [tell('{"n":7}')], agent: { responseFormat: z.object({ n: z.number() }) } })
  t.match(JSON.parse((await post(`${whole.url}/v1/agents/root/run`, { messages: [{ role: 'user', content: 'Go' }] })).body), { output: { n: 7 } })
})

t.test('a member of steps reports to its coordinator, which nobody asks a model for', async (t) => {
  const { ask, models } = await serve(t, {
    key: 'worker', steps: [askModel({ question: ({ notes }, { question }) => ({ messages: `${notes.length}: ${question}` }), show: false, into: note }), told],
    scripts: { root: [toolCall('d1', 'worker', { task: 'count' }), ['All done.']], worker: [['One.']] },
    others: [{ key: 'root', model: 'test:root', agents: ['worker'] }]
  })
  t.equal(textIn(await ask()), 'All done.')
  t.match(models['test:worker']!.requests, { length: 1, 0: { messages: [{ content: '0: count' }] } })
  t.match(models['test:root']!.requests[1]!.messages.at(-1), { role: 'tool', content: /^One\.\n\nSources consulted:/ })
})

t.test('a member of steps that says nothing is told to have no report', async (t) => {
  const { ask, models } = await serve(t, { key: 'worker', steps: [async function * () { /* nothing */ }], scripts: { root: [toolCall('d1', 'worker', { task: 'count' }), ['Well.']], worker: [['never']] }, others: [{ key: 'root', model: 'test:root', agents: ['worker'] }] })
  t.equal(textIn(await ask()), 'Well.')
  t.equal(models['test:worker']!.requests.length, 0)
  t.match(models['test:root']!.requests[1]!.messages.at(-1), { content: /No report was finished/ })
})

t.test('a member of steps that takes over answers in its coordinator’s place', async (t) => {
  const { ask } = await serve(t, { key: 'worker', steps: [tell('From'), tell('steps.')], scripts: { root: [toolCall('d1', 'worker', { task: 'x' })] }, others: [{ key: 'root', model: 'test:root', agents: [{ agent: 'worker', mode: 'handover' }] }] })
  t.equal(textIn(await ask()), 'Fromsteps.')
})

for (const name of ['helper', 'The helper', 'id']) {
  t.test(`a step asks another agent by its ${name}, which is heard as it speaks`, async (t) => {
    const helper = { key: 'helper', name: 'The helper', model: 'test:helper', tools: [look], maxSteps: 3 }
    const { url, ask, models, messages } = await serve(t, {
      steps: [async function * (state, context) {
        const key = name === 'id' ? (await getJson(`${url}/v1/agents`)).items.find((item: { key: string }) => item.key === 'helper').id : name
        const text: string = yield * context.askAgent(key, `About: ${context.question}`)
        yield { type: 'state', state: note(state, text) }
      }, told],
      agent: { agents: ['helper'] },
      scripts: { root: [['never']], helper: [['Let me look.', ...toolCall('c1', 'look', { at: 'sea' })], ['It is ', 'blue.']] },
      others: [helper]
    })
    t.equal(textIn(await ask('the sea')), 'Let me look.\n\nIt is blue.Let me look.\n\nIt is blue.')
    t.match(models['test:helper']!.requests[0]!.messages, [{ content: 'About: the sea' }])
    const { items: [, answer] } = await getJson(messages)
    t.match(answer.metadata, { status: 'completed', usage: { input: 20, output: 10 } })
    t.notOk(answer.parts.some(({ type }: { type: string }) => type.includes('tool')), 'what it calls is not shown')
  })
}

t.test('an agent outside of the crew, one that waits, and one that fails, end the run with the reason', async (t) => {
  const failing = async (agent: Partial<StepsAgentDefinition<Notes>>, scripts: Record<string, ScriptStep[][]> = {}) => {
    const { ask } = await serve(t, { steps: [asksHelper], agent, scripts: { root: [['never']], helper: [['never']], ...scripts }, others: [{ key: 'helper', model: 'test:helper', tools: [defineTool({ name: 'gated', needsApproval: true, execute: () => 'done' })] }] })
    return (await ask()).chunks.find(({ type }) => type === 'error') ?? 'no error'
  }
  t.match(await failing({}), { type: 'error', errorText: /has no member "helper"/ })
  t.match(await failing({ agents: ['helper'], maxMemberCalls: 1 }, { helper: [[{ throw: new AppError('provider_unavailable', 'It is away.') }]] }), { type: 'error', errorText: /"helper" did not finish: It is away/ })
  t.equal(await failing({ agents: ['helper'] }, { helper: [toolCall('c1', 'gated'), ['Not allowed.']] }), 'no error', 'nobody can be asked to approve')
})

t.test('agents that steps of a member ask side by side get its place, where there is one only', async (t) => {
  const asks = (n: number) => askAgent<Notes>('helper', { task: () => `task ${n}`, show: false, into: note })
  const twice = (n: number): Step<Notes> => async function * (state, context) {
    yield * asks(n)(state, context)
    yield * asks(n + 10)(state, context)
  }
  const { ask, models } = await serve(t, {
    key: 'worker', agent: { agents: ['helper'] }, steps: [concurrent([twice(1), twice(2), asks(3)], (_states, before) => before), tell('Report.')],
    scripts: { root: [toolCall('d1', 'worker', { task: 'x' }), ['Done.']], helper: [[{ waitMs: 5 }, 'ok']] },
    others: [{ key: 'root', model: 'test:root', agents: ['worker'], memberConcurrency: 1 }, { key: 'helper', model: 'test:helper' }]
  })
  t.equal(textIn(await ask()), 'Done.')
  t.strictSame(models['test:helper']!.requests.map(({ messages: [task] }) => task?.role === 'user' ? task.content : '').sort(), ['task 1', 'task 11', 'task 12', 'task 2', 'task 3'])
  t.match(models['test:root']!.requests[1]!.messages.at(-1), { content: /^Report\./ })
})

interface Served {
  /** Of the agent of steps, `root` when absent. */
  readonly key?: string
  readonly steps: readonly Step<Notes>[]
  readonly agent?: Partial<StepsAgentDefinition<Notes>>
  /** Responses of the models, by the key of the agent that asks them. */
  readonly scripts?: Readonly<Record<string, ReadonlyArray<readonly ScriptStep[]>>>
  readonly others?: readonly AgentDefinition[]
}

async function serve (t: Test, { key = 'root', steps, agent = {}, scripts = { root: [['never']] }, others = [] }: Served) {
  const models = Object.fromEntries(Object.entries(scripts).map(([name, responses]) => [`test:${name}`, scriptedModel(responses, { id: `test:${name}` })]))
  const ofSteps = stepsAttributes<Notes>({ key, model: `test:${key}`, initial: { notes: [] }, steps, ...agent })
  const { url } = await startApp(t, { models: { get: (id) => models[id]!, defaultModel: 'test:root' }, agents: [ofSteps, ...others] })
  const messages = `${url}/v1/threads/thread-one/messages`
  return { url, messages, models, ask: (text = 'Go') => post(messages, { text, agentId: 'root' }) }
}
