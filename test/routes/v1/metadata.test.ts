import t from 'tap'
import { defineTool, type ToolContext } from '../../../src/tools/tool.ts'
import { post, startApp } from '../../helpers/app.ts'
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
