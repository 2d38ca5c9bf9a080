import t from 'tap'
import { agentId } from '../../../src/agents/ids.ts'
import { getJson, post, startApp, textIn, userMessage } from '../../helpers/app.ts'
import { testDatabaseUrl } from '../../helpers/databases.ts'
import { startConfigured } from '../../helpers/integrations.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'

t.test('an agent that was renamed goes on with its threads, under its old names too', async (t) => {
  const databaseUrl = await testDatabaseUrl(t)
  const before = await startConfigured(t, { config: "{ agents: [{ key: 'old' }, { key: 'other' }] }", model: scriptedModel([['First.']]), databaseUrl })
  t.equal(textIn(await post(`${before.url}/v1/threads/old-thread/messages`, { text: 'Hi', agentId: 'old' })), 'First.')
  await before.app.close()

  const model = scriptedModel([['Second.']])
  const { url } = await startConfigured(t, { config: "{ agents: [{ key: 'new', aliases: ['old'] }, { key: 'other' }] }", model, databaseUrl })
  for (const name of [undefined, 'new', 'old', agentId('old')]) {
    t.equal(textIn(await post(`${url}/v1/threads/old-thread/messages`, { text: 'Again', ...(name === undefined ? {} : { agentId: name }) })), 'Second.', name ?? 'not named')
  }
  t.match(model.requests[0]?.messages, [{ content: 'Hi' }, { text: 'First.' }, { content: 'Again' }])
  t.equal((await post(`${url}/v1/threads/old-thread/messages`, { text: 'Again', agentId: 'other' })).status, 409)
})

t.test('a hidden agent can neither be chatted with nor run, by key or id, unless it is opened', async (t) => {
  const model = scriptedModel([['Hello.']])
  const { url } = await startApp(t, { model, agents: [{ key: 'tester' }, { key: 'ghost', hidden: true }, { key: 'known', hidden: true, directAccess: true }] })
  const ways = (agent: string) => [
    ['/v1/threads/new-thread/messages', { text: 'Hi', agentId: agent }],
    ['/api/chat', { agentId: agent, messages: [userMessage('Hi')] }],
    [`/v1/agents/${agent}/run`, { input: 'Hi' }],
    ['/v1/chat/completions', { model: agent, messages: [{ role: 'user', content: 'Hi' }] }],
    [`/v1/agents/${agent}/ag-ui`, { threadId: 'ag-ui-thread', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'Hi' }] }]
  ] as const
  for (const agent of ['ghost', agentId('ghost')]) for (const [path, body] of ways(agent)) t.equal((await post(url + path, body)).status, 404, path)
  t.equal(model.requests.length, 0)
  t.strictSame((await getJson(`${url}/v1/threads`)).items, [])
  for (const [path, body] of ways('known')) t.equal((await post(url + path, body)).status, 200, path)
  t.strictSame((await getJson(`${url}/v1/agents`)).items.map(({ key }: { key: string }) => key), ['tester'], 'which lists it nowhere')
})
