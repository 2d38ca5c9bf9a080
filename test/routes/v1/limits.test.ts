import t from 'tap'
import { AppError } from '../../../src/errors.ts'
import { noUsage } from '../../../src/events/usage.ts'
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
  t.strictSame(items.map(({ metadata }: { metadata: { status: string } }) => metadata.status), Array.from({ length: 4 }, () => 'completed'))
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
