import t from 'tap'
import { getJson, openStream, post, until } from '../helpers/app.ts'
import { availableProviders, testDatabaseUrl } from '../helpers/databases.ts'
import { deployment, ensureBuilt, patienceMs, runToEnd, startService, type Service } from '../helpers/process.ts'
import { startScriptedUpstream } from '../helpers/scripted-upstream.ts'

t.setTimeout(300_000)
ensureBuilt()

const files = {
  'parley.config.mjs': `
    import { defineStorage, defineTool } from 'parley'
    const archive = defineStorage({ name: 'archive', open: ({ openDatabase }) => openDatabase('file:./archive.db') })
    const send = defineTool({ name: 'send', input: { type: 'object' }, needsApproval: true, execute: () => 'sent' })
    const agent = (key, storage, model = key) => ({ key, storage, model, titleGeneration: false })
    export default { agents: [agent('calm', 'database'), agent('calm-archived', archive, 'calm'), agent('long', archive), { ...agent('gated', archive), tools: [send] }, agent('brief', 'memory', 'calm')], defaultAgent: 'calm' }`
}

const scripts = { calm: [{ text: 'Calm.' }], long: [{ text: 'It is a long', hang: true as const }], gated: [{ calls: [{ id: 'c1', name: 'send' }] }, { text: 'Sent.' }] }

for (const { provider: database, skip } of await availableProviders()) {
  t.test(`kill -9: threads of a storage of one’s own are as in the database, those in memory are gone without a trace (${database})`, { skip }, async (t) => {
    const upstream = await startScriptedUpstream(t, scripts)
    const options = { cwd: await deployment(t, files), env: { OPENAI_BASE_URL: upstream.baseURL, OPENAI_API_KEY: 'test-key', DATABASE_URL: await testDatabaseUrl(t, database) } }
    const thread = ({ url }: Service, id: string) => `${url}/v1/threads/${id}`
    const first = await startService(t, options)
    for (const [id, agentId] of [['calm-kept', 'calm'], ['calm-archived', 'calm-archived'], ['gated-archived', 'gated'], ['brief-thread', 'brief']]) await post(`${thread(first, id ?? '')}/messages`, { text: 'Go', agentId })
    const stream = await openStream(`${thread(first, 'long-archived')}/messages`, { text: 'Go', agentId: 'long' })
    await until('it speaks', () => stream.text().includes('long'), patienceMs)
    await until('what it says is saved', async () => JSON.stringify(await getJson(`${thread(first, 'long-archived')}/messages?include=streaming`)).includes('It is a long'), patienceMs)
    t.equal((await getJson(`${first.url}/v1/threads`)).items.length, 5)
    const { items: [approval] } = await getJson(`${thread(first, 'gated-archived')}/approvals`)
    first.kill('SIGKILL')
    await first.exited

    const second = await startService(t, options)
    t.strictSame((await getJson(`${second.url}/v1/threads`)).items.map(({ id }: { id: string }) => id).sort(), ['calm-archived', 'calm-kept', 'gated-archived', 'long-archived'])
    t.equal((await fetch(thread(second, 'brief-thread'))).status, 404)
    const interrupted = await getJson(`${thread(second, 'long-archived')}/messages`)
    t.match(interrupted.items[1], { metadata: { status: 'interrupted' }, parts: [{}, { text: 'It is a long' }] })
    t.match(await getJson(`${second.url}/v1/runs/${interrupted.items[1].metadata.runId}`), { status: 'interrupted' })

    const decided = await fetch(`${second.url}/v1/approvals/${approval.id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"approved":true}' })
    t.match(await decided.json(), { status: 'approved', resumedRunId: String })
    await until('it went on', async () => JSON.stringify(await getJson(`${thread(second, 'gated-archived')}/messages`)).includes('Sent.'), patienceMs)
    t.match((await post(`${thread(second, 'brief-thread')}/messages`, { text: 'Go' })).status, 200, 'its id is free')
    t.match(await getJson(thread(second, 'brief-thread')), { messageCount: 2 })
    second.kill('SIGTERM')
    t.match(await second.exited, { code: 0 })
  })
}

t.test('a storage that cannot be opened is a reason not to start, in one line', async (t) => {
  const ended = await runToEnd(t, {
    cwd: await deployment(t, {
      'parley.config.mjs': `
    import { defineStorage } from 'parley'
    export default { agents: [{ key: 'a', storage: defineStorage({ name: 'archive', open: async () => { throw new Error('no such bucket') } }) }] }`
    })
  })
  t.equal(ended.code, 1)
  t.equal(ended.stderr, 'parley cannot start: The storage "archive" could not be opened: no such bucket\n')
})
