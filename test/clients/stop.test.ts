import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames } from '../helpers/ai-clients.ts'
import { startApp, until } from '../helpers/app.ts'
import { scriptedModel, toolCall } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, createGate, historyOf, openChat, shown, showsText, textsOf } from './live-chat.ts'

for (const client of clientNames) {
  t.test(`${client}: a stopped answer keeps its text, and the next message is answered`, async (t) => {
    const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'Hm.' }, 'Once upon', { hang: true }], ['The end']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'stopped-thread' })
    const sent = live.chat.sendMessage({ text: 'A story' })
    await showsText(live, 'Once upon')
    t.equal(await stop(server.url, 'stopped-thread'), 200)
    await sent
    t.equal(live.chat.status, 'ready')
    t.equal(model.closed(), 1, 'the model was let go')
    t.match(live.chat.messages[1]?.metadata, { status: 'stopped', finishReason: 'other' })
    t.strictSame(live.chat.messages[1]?.parts.map(({ state }) => state), [undefined, 'done', 'done'])
    await assertAgreement(t, server, live)

    await live.chat.sendMessage({ text: 'Go on' })
    t.strictSame(textsOf(live.chat.messages), ['A story', 'Once upon', 'Go on', 'The end'])
    t.match(model.requests[1]?.messages, [{ content: 'A story' }, { text: 'Once upon' }, { content: 'Go on' }])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: the client's own stop together with the service's ends the run, and the next message is answered`, async (t) => {
    const model = scriptedModel([['Once upon', { hang: true }], ['The end']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'stopped-by-both' })
    const sent = live.chat.sendMessage({ text: 'A story' })
    await showsText(live, 'Once upon')
    await Promise.all([live.chat.stop(), stop(server.url, 'stopped-by-both'), sent])
    t.equal(live.chat.error, undefined)
    t.strictSame((await historyOf(server.url, 'stopped-by-both')).map(({ id }) => id), live.chat.messages.map(({ id }) => id))

    await live.chat.sendMessage({ text: 'Go on' })
    t.strictSame(textsOf(live.chat.messages), ['A story', 'Once upon', 'Go on', 'The end'])
    const reloaded = await historyOf(server.url, 'stopped-by-both')
    t.strictSame(textsOf(reloaded), textsOf(live.chat.messages))
    t.strictSame(shown(reloaded[3]!), shown(live.chat.messages[3]!)) // both have four: the texts say so
  })

  t.test(`${client}: a client that leaves does not stop the answer`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once upon', { until: gate.opened }, ' a time']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'left-thread' })
    const sent = live.chat.sendMessage({ text: 'A story' })
    await showsText(live, 'Once upon')
    await live.chat.stop()
    await sent
    gate.open()
    await until('the answer is stored', async () => (await historyOf(server.url, 'left-thread')).length === 2)
    const history = await historyOf(server.url, 'left-thread')
    t.strictSame(textsOf(history), ['A story', 'Once upon a time'])
    t.match(history[1], { id: live.chat.messages[1]?.id, metadata: { status: 'completed' } })
  })

  t.test(`${client}: an answer stopped before its first word leaves no message behind`, async (t) => {
    const model = scriptedModel([[{ hang: true }], ['Hello']])
    const server = await startApp(t, { model })
    const live = await openChat(client, server, { id: 'stopped-early' })
    const sent = live.chat.sendMessage({ text: 'Hi' })
    await until('the model is asked', () => model.requests.length === 1)
    await stop(server.url, 'stopped-early')
    await sent
    t.equal(live.chat.error, undefined)
    t.strictSame(textsOf(await historyOf(server.url, 'stopped-early')), ['Hi'])
    // The client shows an empty answer under an id that is in no history.
    await live.chat.regenerate({ messageId: live.chat.messages[1]?.id ?? '' })
    t.strictSame(textsOf(live.chat.messages), ['Hi', 'Hello'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a continued message that is stopped keeps all it said`, async (t) => {
    const ask = defineTool({ name: 'ask_colour' })
    const model = scriptedModel([['Which colour? ', ...toolCall('call-1', 'ask_colour')], ['Red ', { hang: true }], ['Green']])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [ask] }] })
    const live = await openChat(client, server, { id: 'stopped-continuation', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await showsText(live, 'Red')
    await stop(server.url, 'stopped-continuation')
    await atRest(live)
    t.strictSame(textsOf(live.chat.messages), ['Paint it', 'Which colour? Red '])
    t.equal(live.posts.length, 2)
    await assertAgreement(t, server, live)
    await live.chat.sendMessage({ text: 'No, green' })
    t.match(model.requests[2]?.messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'assistant', 'user'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: leaving stops the answer where its agent says so`, async (t) => {
    const model = scriptedModel([['Once upon', { hang: true }]])
    const server = await startApp(t, { model, agents: [{ key: 'tester', onDisconnect: 'stop' }] })
    const live = await openChat(client, server, { id: 'leaving-stops' })
    const sent = live.chat.sendMessage({ text: 'A story' })
    await showsText(live, 'Once upon')
    await live.chat.stop()
    await sent
    await until('the answer is stopped', async () => (await historyOf(server.url, 'leaving-stops')).length === 2)
    t.match((await historyOf(server.url, 'leaving-stops'))[1], { metadata: { status: 'stopped' }, parts: [{}, { text: 'Once upon', state: 'done' }] })
    t.equal(model.closed(), 1)
  })
}

t.test('stopping is idempotent, also when nothing runs', async (t) => {
  const server = await startApp(t, { model: scriptedModel([['Hello']]) })
  t.equal(await stop(server.url, 'no-such-thread'), 404)
  const live = await openChat('ai7', server, { id: 'idle-thread' })
  await live.chat.sendMessage({ text: 'Hi' })
  for (let time = 0; time < 2; time++) t.equal(await stop(server.url, 'idle-thread'), 200)
  await assertAgreement(t, server, live)
})

async function stop (url: string, threadId: string): Promise<number> {
  return (await fetch(`${url}/v1/threads/${threadId}/stop`, { method: 'POST' })).status
}
