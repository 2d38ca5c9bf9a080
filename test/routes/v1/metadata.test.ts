import t from 'tap'
import { askAgent } from '../../../src/agents/steps/ask.ts'
import { stepsAttributes } from '../../../src/agents/steps/define-steps-agent.ts'
import { defineTool, type ToolContext } from '../../../src/tools/tool.ts'
import { getJson, post, startApp, until } from '../../helpers/app.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'

t.test('tools know the metadata of the thread and of the request, those of members too, and no model is told of it', async (t) => {
  const seen: ToolContext[] = []
  const look = defineTool({ name: 'look', execute: (_input, context) => { seen.push(context) } })
  const models = {
    'test:root': scriptedModel([[...toolCall('c1', 'look'), ...toolCall('d1', 'helper', { task: 'go' })], ['Done.']], { id: 'test:root' }),
    'test:helper': scriptedModel([toolCall('c2', 'look'), ['Report.']], { id: 'test:helper' })
  }
  const { url } = await startApp(t, { models: { get: (id) => models[id as keyof typeof models], defaultModel: 'test:root' }, agents: [{ key: 'root', tools: [look], agents: ['helper'] }, { key: 'helper', model: 'test:helper', tools: [look] }] })
  await post(`${url}/v1/threads`, { id: 'thread-one', agentId: 'root', metadata: { shop: 'SHOP-OF-THREAD', desk: 'DESK-OF-THREAD' } })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hi', metadata: { desk: 'DESK-OF-REQUEST', lang: 'de' } })
  const metadata = { shop: 'SHOP-OF-THREAD', desk: 'DESK-OF-REQUEST', lang: 'de' }
  t.strictSame(seen.map((context) => [context.agentPath.map(({ name }) => name), context.metadata]), [[[], metadata], [['helper'], metadata]])
  t.match(seen, [{ threadId: 'thread-one', callId: 'c1', principal: { userId: 'anonymous' } }, { threadId: 'thread-one', callId: 'c2', principal: { userId: 'anonymous' } }])
  t.equal(seen[0]?.runId, seen[1]?.runId)
  t.notMatch(JSON.stringify(Object.values(models).map(({ requests }) => requests)), /OF-THREAD|OF-REQUEST/)
})

t.test('a crew adds metadata for a member and everything below it, over what they inherit', async (t) => {
  for (const delegation of ['tools', 'group'] as const) {
    const seen: Array<readonly [string, unknown]> = []
    const note = ({ agentPath, metadata }: Pick<ToolContext, 'agentPath' | 'metadata'>) => { seen.push([agentPath.map(({ name }) => name).join('/'), metadata]) }
    const look = defineTool({ name: 'look', execute: (_input, context) => { note(context) } })
    const ask = (id: string, agent: string) => delegation === 'tools' ? toolCall(id, agent, { task: 'go' }) : toolCall(id, 'delegate', { agent, task: 'go' })
    const models = {
      'test:root': scriptedModel([[...ask('d1', 'helper'), ...ask('d2', 'other')], toolCall('c1', 'look'), ['Done.']], { id: 'test:root' }),
      'test:helper': scriptedModel([ask('d3', 'deep'), ['Report.']], { id: 'test:helper' }),
      'test:other': scriptedModel([toolCall('c2', 'look'), ['Report.']], { id: 'test:other' }),
      'test:deep': scriptedModel([toolCall('c3', 'look'), ['Report.']], { id: 'test:deep' })
    }
    const ofHelper = JSON.parse('{ "desk": "DESK-OF-HELPER", "level": 1, "list": [{ "a": null }], "__proto__": { "polluted": true } }') as Record<string, unknown>
    const { url } = await startApp(t, {
      models: { get: (id) => models[id as keyof typeof models], defaultModel: 'test:root' },
      agents: [
        { key: 'root', tools: [look], delegation, agents: [{ agent: 'helper', metadata: ofHelper }, 'other'] },
        { key: 'helper', model: 'test:helper', delegation, agents: [{ agent: 'deep', metadata: { level: 2 } }], systemPrompt: (context, instructions) => { note(context); return instructions } },
        { key: 'other', model: 'test:other', tools: [look] },
        { key: 'deep', model: 'test:deep', tools: [(context) => { t.equal(context.metadata['level'], 2); return look }] }
      ]
    })
    await post(`${url}/v1/threads/crew-thread/messages`, { text: 'Hi', agentId: 'root', metadata: { desk: 'DESK-OF-REQUEST', shop: 'SHOP' } })
    const asked = { desk: 'DESK-OF-REQUEST', shop: 'SHOP' }
    const of = (path: string) => seen.find(([name]) => name === path)?.[1] as Record<string, unknown> | undefined
    t.strictSame(of(''), asked)
    t.strictSame(of('other'), asked)
    t.match(of('helper'), { desk: 'DESK-OF-HELPER', shop: 'SHOP', level: 1, list: [{ a: null }] })
    t.match(of('helper/deep'), { desk: 'DESK-OF-HELPER', shop: 'SHOP', level: 2, list: [{ a: null }] })
    for (const path of ['helper', 'helper/deep']) {
      t.equal(Object.getPrototypeOf(of(path)), Object.prototype, 'no key changes what it is')
      t.equal(of(path)?.['polluted'], undefined)
      t.throws(() => { (of(path)?.['list'] as unknown[]).push(1) }, 'nor does one run change it for the next')
    }
    t.notMatch(JSON.stringify(Object.values(models).map(({ requests }) => requests)), /DESK-OF|polluted/)
  }
})

t.test('steps add metadata for an agent that they ask', async (t) => {
  const seen: unknown[] = []
  const look = defineTool({ name: 'look', execute: (_input, { metadata }) => { seen.push(metadata) } })
  const steps = stepsAttributes<object>({
    key: 'tester',
    agents: [{ agent: 'helper', metadata: { desk: 'crew', level: 1 } }],
    initial: {},
    steps: [
      askAgent('helper', { task: () => 'Look' }),
      askAgent('helper', { task: () => 'Look', metadata: (_state, { metadata }) => ({ desk: `step of ${String(metadata['shop'])}` }) }),
      async function * (_state, context) { yield * context.askAgent('helper', 'Look', { metadata: { at: new Date() } }) }
    ]
  })
  const model = scriptedModel([toolCall('c1', 'look'), ['One.'], toolCall('c2', 'look'), ['Two.']])
  const { url } = await startApp(t, { model, agents: [steps, { key: 'helper', tools: [look] }] })
  const { chunks } = await post(`${url}/v1/threads/steps-thread/messages`, { text: 'Hi', agentId: 'tester', metadata: { shop: 7, desk: 'request' } })
  t.strictSame(seen, [{ shop: 7, desk: 'crew', level: 1 }, { shop: 7, desk: 'step of 7', level: 1 }])
  t.match(chunks.find(({ type }) => type === 'data-error'), { data: { code: 'configuration_error' } })
})

t.test('a member that waited has its metadata when it goes on, after a restart too', async (t) => {
  const seen: unknown[] = []
  const send = defineTool({ name: 'send', needsApproval: true, execute: (_input, { metadata }) => { seen.push(metadata) } })
  const models = {
    'test:root': scriptedModel([toolCall('d1', 'helper', { task: 'go' }), ['Done.']], { id: 'test:root' }),
    'test:helper': scriptedModel([toolCall('c1', 'send'), ['Report.']], { id: 'test:helper' })
  }
  const options = {
    models: { get: (id: string) => models[id as keyof typeof models], defaultModel: 'test:root' },
    agents: [{ key: 'root', agents: [{ agent: 'helper', metadata: { desk: 'helper' } }] }, { key: 'helper', model: 'test:helper', tools: [send] }]
  }
  const first = await startApp(t, options)
  await post(`${first.url}/v1/threads/waiting-thread/messages`, { text: 'Hi', agentId: 'root', metadata: { desk: 'request', shop: 7 } })
  await first.app.close()

  const second = await startApp(t, { ...options, databaseUrl: first.databaseUrl })
  const { items: [{ id }] } = await getJson(`${second.url}/v1/threads/waiting-thread/approvals`)
  await post(`${second.url}/v1/approvals/${id}`, { approved: true })
  await until('the call has run', () => seen.length > 0)
  t.strictSame(seen, [{ desk: 'helper', shop: 7 }])
})
