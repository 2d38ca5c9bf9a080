import t, { type Test } from 'tap'
import { z } from 'zod'
import { defineStorage } from '../../src/storage/define-storage.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { agUiClients, historyTold, openAgent, told } from '../helpers/ag-ui-clients.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { getJson, startApp, until, type TestApp } from '../helpers/app.ts'
import { testDatabaseUrl } from '../helpers/databases.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, createGate, openChat, showsText, textsOf } from './live-chat.ts'

const askColour = defineTool({ name: 'ask_colour', description: 'Asks the user for a colour.' })
const send = defineTool({ name: 'send', input: z.object({ to: z.string() }), needsApproval: true, execute: ({ to }) => `sent to ${to}` })

async function start (t: Test, place: 'memory' | 'archive', responses: ReadonlyArray<readonly ScriptStep[]>, env: Readonly<Record<string, string>> = {}): Promise<TestApp & { readonly model: ReturnType<typeof scriptedModel> }> {
  const url = await testDatabaseUrl(t, 'sqlite')
  const storage = place === 'memory' ? place : defineStorage({ name: 'archive', open: ({ openDatabase }) => openDatabase(url) })
  const model = scriptedModel(responses)
  return { ...await startApp(t, { model, env, agents: [{ key: 'tester', storage, tools: [askColour, send] }, { key: 'keeper' }] }), model }
}

for (const place of ['memory', 'archive'] as const) {
  for (const client of clientNames) {
    t.test(`${client}: a thread in ${place === 'memory' ? 'memory' : 'a storage of one’s own'} is as any other: turns, branches, client tools, and what a reload shows`, async (t) => {
      const server = await start(t, place, [['One'], ['One again'], ['Which? ', ...toolCall('call-1', 'ask_colour')], ['Red it is'], ['Edited answer']])
      const live = await openChat(client, server, { id: 'kept-elsewhere', sendAutomatically: 'when-tools-are-answered' })
      await live.chat.sendMessage({ text: 'First' })
      await live.chat.regenerate()
      await live.chat.sendMessage({ text: 'Paint it' })
      await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
      await showsText(live, 'Red it is')
      await atRest(live)
      t.strictSame(textsOf(live.chat.messages), ['First', 'One again', 'Paint it', 'Which? Red it is'])
      await assertAgreement(t, server, live)
      await live.chat.sendMessage({ text: 'Edited', messageId: live.chat.messages[2]?.id ?? '' })
      await assertAgreement(t, server, live)
      t.match((await getJson(`${server.url}/v1/threads/kept-elsewhere/messages/${live.chat.messages[1]?.id}/siblings`)).items, [{ parts: [{}, { text: 'One' }] }, { parts: [{}, { text: 'One again' }] }])
      t.equal(await server.database.threads.get({ tenantId: 'default', userId: 'anonymous', roles: [] }, 'kept-elsewhere'), undefined, 'the database knows nothing of it')
    })
  }

  t.test(`an approval of a thread in ${place} is listed, decided by its id, and its run goes on`, async (t) => {
    const server = await start(t, place, [toolCall('call-1', 'send', { to: 'ada' }), ['Sent']])
    const live = await openChat('ai7', server, { id: 'approved-elsewhere' })
    await live.chat.sendMessage({ text: 'Send it' })
    const { items: [approval] } = await getJson(`${server.url}/v1/threads/approved-elsewhere/approvals`)
    t.match(approval, { toolName: 'send', input: { to: 'ada' }, status: 'pending' })
    const response = await fetch(`${server.url}/v1/approvals/${approval.id}`, { method: 'POST', body: '{"approved":true}', headers: { 'content-type': 'application/json' } })
    const { resumedRunId } = await response.json() as { resumedRunId: string }
    t.equal(response.status, 200)
    await live.chat.resumeStream()
    const { items: [, answer] } = await getJson(`${server.url}/v1/threads/approved-elsewhere/messages?include=streaming`)
    t.equal(answer.metadata.runId, resumedRunId)
    t.match(await getJson(`${server.url}/v1/runs/${resumedRunId}`), { threadId: 'approved-elsewhere', status: 'completed' })
    t.match(await getJson(`${server.url}/v1/runs/${approval.runId}`), { status: 'completed' })
    t.match(server.model.requests[1]?.messages.at(-1), { role: 'tool', content: 'sent to ada' })
  })

  t.test(`an approval of a thread in ${place} that nobody decides in time is denied, and its run goes on`, async (t) => {
    const server = await start(t, place, [toolCall('call-1', 'send', { to: 'ada' }), ['Not sent']], { APPROVAL_TTL_MS: '1' })
    const live = await openChat('ai7', server, { id: 'expired-elsewhere' })
    await live.chat.sendMessage({ text: 'Send it' })
    await until('its time is up', async () => await server.app.approvals.expire() === 1)
    await until('it went on', async () => (await fetch(`${server.url}/v1/threads/expired-elsewhere/stream`)).status === 204)
    t.match((await getJson(`${server.url}/v1/threads/expired-elsewhere/messages`)).items[1].parts, [{}, { state: 'output-denied' }, {}, { text: 'Not sent' }])
  })

  t.test(`an answer in a thread in ${place} goes on without its reader, who comes back to it, and is stopped by its thread`, async (t) => {
    const gate = createGate()
    const server = await start(t, place, [['Slow ', { until: gate.opened }, 'and whole'], ['Endless ', { hang: true }]])
    const live = await openChat('ai7', server, { id: 'resumed-elsewhere' })
    const sent = live.chat.sendMessage({ text: 'Tell me' })
    await showsText(live, 'Slow ')
    await live.chat.stop()
    await sent
    const back = await openChat('ai7', server, { id: 'resumed-elsewhere', messages: live.chat.messages.slice(0, 1) })
    const resumed = back.chat.resumeStream()
    await showsText(back, 'Slow ')
    gate.open()
    await resumed
    t.strictSame(textsOf(back.chat.messages), ['Tell me', 'Slow and whole'])
    const endless = back.chat.sendMessage({ text: 'More' })
    await showsText(back, 'Endless ')
    t.equal((await fetch(`${server.url}/v1/threads/resumed-elsewhere/stop`, { method: 'POST' })).status, 200)
    await endless
    t.match(await getJson(`${server.url}/v1/threads/resumed-elsewhere/messages`), { items: [{}, {}, {}, { metadata: { status: 'stopped' } }] })
  })

  for (const client of agUiClients) {
    t.test(`${client}: a thread in ${place} takes runs of AG-UI`, async (t) => {
      const server = await start(t, place, [['Which?', ...toolCall('call-1', 'ask_colour')], ['Red it is.'], ['Gladly.']])
      const { agent, say, answer } = await openAgent(client, server, 'agui-elsewhere')
      await say('Paint it')
      await answer('call-1', 'red')
      await say('Thanks')
      t.strictSame(told(agent.messages), await historyTold(server.url, 'agui-elsewhere'))
    })
  }
}
