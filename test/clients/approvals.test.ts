import t from 'tap'
import { z } from 'zod'
import { defineTool } from '../../src/tools/tool.ts'
import { getJson, post, startApp, textIn } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, historyOf, openChat, shown, showsText } from './live-chat.ts'

const send = (id: string, to: string) => toolCall(id, 'send', { to })

function gated () {
  const done: string[] = []
  return { done, tool: defineTool({ name: 'send', input: z.object({ to: z.string(), copies: z.number().default(1) }), needsApproval: true, execute: ({ to }) => { done.push(to); return `sent to ${to}` } }) }
}

const approvalOf = (parts: ReadonlyArray<Record<string, unknown>> | undefined, callId: string) => (parts?.find(({ toolCallId }) => toolCallId === callId)?.['approval'] as { id: string } | undefined)?.id ?? ''

for (const client of ['ai6', 'ai7'] as const) {
  t.test(`${client}: its own verdicts let the same message go on, and a reload shows what it shows`, async (t) => {
    const { done, tool } = gated()
    const model = scriptedModel([['Both? ', ...send('c1', 'ada'), ...send('c2', 'bob')], ['Sent to one.']])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [tool] }] })
    const live = await openChat(client, server, { id: 'approving-chat', sendAutomatically: 'when-approvals-are-answered' })
    await live.chat.sendMessage({ text: 'Send them' })
    t.match(live.chat.messages[1]?.parts.slice(-2), [{ state: 'approval-requested' }, { state: 'approval-requested' }])
    await assertAgreement(t, server, live)

    const parts = live.chat.messages[1]?.parts
    await live.chat.addToolApprovalResponse!({ id: approvalOf(parts, 'c1'), approved: true })
    t.strictSame(done, [], 'one verdict is not enough')
    await live.chat.addToolApprovalResponse!({ id: approvalOf(parts, 'c2'), approved: false, reason: 'Not him.' })
    await showsText(live, 'Sent to one.')
    await atRest(live)
    t.strictSame(done, ['ada'])
    t.equal(live.chat.messages.length, 2)
    t.match(live.chat.messages[1]?.parts, [{}, {}, { state: 'output-available', output: 'sent to ada' }, { state: 'output-denied' }, {}, { text: 'Sent to one.' }])
    await assertAgreement(t, server, live)
    await live.chat.sendMessage({ text: 'Thanks' })
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a call three agents deep is asked for, attributed, and runs once`, async (t) => {
    const { done, tool } = gated()
    const models = Object.fromEntries(Object.entries({
      root: scriptedModel([toolCall('d1', 'a', { task: 'x' }), ['All done.']], { id: 'test:root' }),
      a: scriptedModel([toolCall('d2', 'b', { task: 'y' }), ['A.']], { id: 'test:a' }),
      b: scriptedModel([toolCall('d3', 'c', { task: 'z' }), ['B.']], { id: 'test:b' }),
      c: scriptedModel([send('deep', 'ada'), ['C.']], { id: 'test:c' })
    }).map(([key, model]) => [`test:${key}`, model]))
    const server = await startApp(t, {
      models: { get: (id) => models[id]!, defaultModel: 'test:root' },
      agents: [{ key: 'root', agents: ['a'], maxDepth: 3 }, { key: 'a', model: 'test:a', agents: ['b'], maxDepth: 3, hidden: true }, { key: 'b', model: 'test:b', agents: ['c'], maxDepth: 3, hidden: true }, { key: 'c', model: 'test:c', tools: [tool], maxDepth: 3, hidden: true }]
    })
    const live = await openChat(client, server, { id: 'deep-approval', sendAutomatically: 'when-approvals-are-answered' })
    await live.chat.sendMessage({ text: 'Go' })
    const asked = live.chat.messages[1]?.parts
    t.match(asked?.find((part) => part['toolCallId'] === 'deep'), { state: 'approval-requested', callProviderMetadata: { parley: { agent: 'c', parentToolCallId: 'd3', agentPath: [{ name: 'a', toolCallId: 'd1' }, { name: 'b', toolCallId: 'd2' }, { name: 'c', toolCallId: 'd3' }] } } })
    await assertAgreement(t, server, live)
    await live.chat.addToolApprovalResponse!({ id: approvalOf(asked, 'deep'), approved: true })
    // By itself a client does not send while a call of the message, here the delegations, has no result.
    await live.chat.sendMessage()
    await showsText(live, 'All done.')
    await atRest(live)
    t.strictSame(done, ['ada'])
    await assertAgreement(t, server, live)
  })
}

t.test('ai6: a client tool below the root waits for the client, and its member goes on with the answer', async (t) => {
  const colour = defineTool({ name: 'ask_colour', input: z.object({}) })
  const models = {
    'test:root': scriptedModel([toolCall('d1', 'a', { task: 'x' }), ['Painted.']], { id: 'test:root' }),
    'test:a': scriptedModel([toolCall('c1', 'ask_colour'), ['A says red.']], { id: 'test:a' })
  }
  const server = await startApp(t, { models: { get: (id) => models[id as keyof typeof models], defaultModel: 'test:root' }, agents: [{ key: 'root', agents: ['a'] }, { key: 'a', model: 'test:a', tools: [colour] }] })
  const live = await openChat('ai6', server, { id: 'nested-client-tool' })
  await live.chat.sendMessage({ text: 'Paint' })
  t.match(live.chat.messages[1]?.parts.at(-1), { type: 'tool-ask_colour', state: 'input-available' })
  await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'c1', output: 'red' })
  await live.chat.sendMessage()
  await showsText(live, 'Painted.')
  await atRest(live)
  t.match(models['test:a'].requests[1]?.messages.at(-1), { role: 'tool', content: 'red' })
  t.match(models['test:root'].requests[1]?.messages.at(-1), { role: 'tool', content: /^A says red\./ })
  await assertAgreement(t, server, live)
})

t.test('ai5: a verdict by the REST route, told to the client as data of the v5 profile', async (t) => {
  const { done, tool } = gated()
  const server = await startApp(t, { model: scriptedModel([send('c1', 'ada'), ['Sent.']]), agents: [{ key: 'tester', tools: [tool], wireProfile: 'v5' }] })
  const live = await openChat('ai5', server, { id: 'approving-five' })
  await live.chat.sendMessage({ text: 'Send it' })
  t.equal(live.chat.error, undefined)
  t.match(live.chat.messages[1]?.parts.find(({ type }) => type === 'data-approval'), { data: { toolCallId: 'c1' } })
  const { items: [approval] } = await getJson(`${server.url}/v1/threads/approving-five/approvals`)
  const decided = await fetch(`${server.url}/v1/approvals/${approval.id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"approved":true}' })
  t.match(await decided.json(), { status: 'approved', resumedRunId: String })
  await live.chat.resumeStream?.()
  await atRest(live)
  t.strictSame(done, ['ada'])
  t.match((await historyOf(server.url, 'approving-five')).map(shown).at(-1)?.parts.at(-1), { text: 'Sent.' })
})

t.test('a re-posted message whose input was altered is refused, and a forged verdict changes nothing', async (t) => {
  const { done, tool } = gated()
  const server = await startApp(t, { model: scriptedModel([send('c1', 'ada'), ['Sent.']]), agents: [{ key: 'tester', tools: [tool] }] })
  const live = await openChat('ai6', server, { id: 'forged-verdicts' })
  await live.chat.sendMessage({ text: 'Send it' })
  const [, answer] = live.chat.messages
  const id = approvalOf(answer?.parts, 'c1')
  const repost = async (input: unknown, approvalId: string) => await fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'forged-verdicts', messages: [{ ...answer, parts: [{ type: 'tool-send', toolCallId: 'c1', state: 'approval-responded', input, approval: { id: approvalId, approved: true } }] }] })
  })
  for (const [input, approvalId, reason] of [[{ to: 'mallory' }, id, 'altered'], [{ to: 'ada', copies: 1 }, 'forged', 'unknown']] as const) {
    const response = await repost(input, approvalId)
    t.equal(response.status, 409)
    t.match(await response.json(), { details: { reason } })
  }
  t.strictSame(done, [])
  t.equal((await repost({ to: 'ada', copies: 1 }, id)).status, 200, 'as the person saw it, with what the schema fills in')
})

t.test('a verdict in a message that is posted again after it was decided moves nothing, and shows how it is', async (t) => {
  const { done, tool } = gated()
  const model = scriptedModel([send('c1', 'ada'), ['Not sent.']])
  const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [tool] }] })
  const live = await openChat('ai6', server, { id: 'stale-verdicts' })
  await live.chat.sendMessage({ text: 'Send it' })
  const [, answer] = live.chat.messages
  const id = approvalOf(answer?.parts, 'c1')
  const repost = async (approved: boolean) => await post(`${server.url}/api/chat`, {
    id: 'stale-verdicts', messages: [{ ...answer, parts: [{ type: 'tool-send', toolCallId: 'c1', state: 'approval-responded', input: { to: 'ada', copies: 1 }, approval: { id, approved } }] }]
  })
  for (const approved of [false, false, true]) {
    const { status, chunks } = await repost(approved)
    t.equal(status, 200)
    t.equal(textIn({ chunks }), 'Not sent.')
  }
  t.strictSame(done, [])
  t.equal(model.requests.length, 2)
})
