import t from 'tap'
import { AppError } from '../../../src/errors.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { estimateInput } from '../../../src/models/estimate.ts'
import type { Model, ModelRequest } from '../../../src/models/model.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { getJson, post, startApp, textIn } from '../../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'

const took = (input: number, output = 10): ScriptStep => ({ type: 'usage', usage: { ...noUsage, input, output }, estimated: false })
const ask = (id: string) => toolCall(id, 'researcher', { task: 'Look.' })
const book = defineTool({ name: 'book', execute: () => 'word '.repeat(4_000) })
const prices = { input: 1, output: 10 }

t.test('the budget of an agent stops its member before it is exceeded, and the thread goes on', async (t) => {
  const root = scriptedModel([[...ask('d1'), took(100)], ['From what there is.', took(200)], ['And more.', took(300)]], { id: 'test:root' })
  const member = scriptedModel([[...toolCall('b1', 'book'), took(100)], ['Never.']], { id: 'test:member' })
  const { url } = await startApp(t, {
    models: { get: (id) => id === 'test:root' ? root : member, defaultModel: 'test:root' },
    agents: [{ key: 'root', agents: ['researcher'], budget: { tokens: 3_500 } }, { key: 'researcher', model: 'test:member', tools: [book] }]
  })
  const thread = `${url}/v1/threads/bounded-thread`
  t.equal(textIn(await post(`${thread}/messages`, { text: 'Look', agentId: 'root' })), 'From what there is.')
  t.equal(member.requests.length, 1)
  t.equal(textIn(await post(`${thread}/messages`, { text: 'And?' })), 'And more.')
  const { items } = await getJson(`${thread}/messages`)
  t.strictSame(items.map(({ metadata }: { metadata: { status: string } }) => metadata.status).filter(Boolean), ['completed', 'completed'])
})

t.test('usage is told by whose it is, also of a member that failed', async (t) => {
  const root = { ...scriptedModel([[...ask('d1'), took(100)], ['It broke.', took(200)]], { id: 'test:root' }), prices }
  const member = { ...scriptedModel([['So far', took(50), { throw: new AppError('provider_unavailable', 'It broke.') }]], { id: 'test:member' }), prices }
  const { url } = await startApp(t, {
    models: { get: (id) => id === 'test:root' ? root : member, defaultModel: 'test:root' },
    agents: [{ key: 'root', agents: ['researcher'] }, { key: 'researcher', name: 'Researcher', model: 'test:member' }]
  })
  const thread = `${url}/v1/threads/counted-thread`
  await post(`${thread}/messages`, { text: 'Look', agentId: 'root' })
  const { items } = await getJson(`${thread}/usage`) as { items: { agentPath: string, calls: number, costUsd: number, usage: { input: number } }[] }
  t.strictSame(items.map(({ agentPath, calls, costUsd, usage }) => [agentPath, calls, usage.input, costUsd]).sort(), [['', 2, 300, 0.0005], ['Researcher', 1, 50, 0.00015]])
})

t.test('a thread of 200 turns is three times the window of its model, and no request goes beyond it', async (t) => {
  const contextWindow = 2_500
  const requests: ModelRequest[] = []
  const model: Model = {
    id: 'test:small',
    contextWindow,
    async * generate (request) {
      const input = estimateInput(request)
      requests.push({ ...request, messages: [...request.messages] })
      yield [{ type: 'text-delta', delta: 'They talked of ships and harbours.' }]
      yield [{ type: 'usage', usage: { ...noUsage, input, output: 9 }, estimated: false }, { type: 'finish', reason: 'stop' }]
    }
  }
  const { url } = await startApp(t, { model, agents: [{ key: 'tester', compaction: 'auto' }] })
  const thread = `${url}/v1/threads/long-thread`
  const question = (n: number) => `Question ${n}: what else is there to say of ships and harbours and of the people who work there?`
  for (let n = 0; n < 200; n++) {
    const { status } = await post(`${thread}/messages`, { text: question(n) })
    if (status !== 200) t.fail(`turn ${n}: ${status}`)
  }
  t.strictSame(requests.filter((request) => estimateInput(request) > contextWindow), [])
  const answers = requests.filter(({ messages }) => messages.at(-1)?.role === 'user' && /^Question \d+:/.test((messages.at(-1) as { content: string }).content))
  t.equal(answers.length, 200)
  t.ok(answers.every(({ messages: [first] }) => first?.role === 'user' && first.content === question(0)), 'what the thread began with is kept')
  t.ok(requests.length > 200, 'old turns were summed up')
  const { messageCount } = await getJson(thread)
  t.equal(messageCount, 400, 'and all of it is stored')
  const stored = Array.from({ length: 200 }, (_, n) => [{ role: 'user', content: question(n) } as const, { role: 'assistant', text: 'They talked of ships and harbours.', toolCalls: [] } as const]).flat()
  t.ok(estimateInput({ instructions: '', messages: stored, tools: [], toolChoice: 'none', settings: {} }) > 3 * contextWindow)
})
