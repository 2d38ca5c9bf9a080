import t from 'tap'
import { defineTool } from '../../src/tools/tool.ts'
import { clientNames, type Chat } from '../helpers/ai-clients.ts'
import { getJson, post, startApp, until } from '../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { assertAgreement, atRest, createGate, historyOf, openChat, showsText, textsOf } from './live-chat.ts'

const askColour = defineTool({ name: 'ask_colour', description: 'Asks the user for a colour.' })
const askSize = defineTool({ name: 'ask_size', description: 'Asks the user for a size.' })
const agents = [{ key: 'tester', tools: [askColour, askSize] }]
const asking: readonly ScriptStep[] = ['Which colour? ', ...toolCall('call-1', 'ask_colour')]

for (const client of clientNames) {
  t.test(`${client}: the output of a client tool goes on with the same message, once`, async (t) => {
    const model = scriptedModel([asking, ['Red ', 'it is']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'client-tool', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    t.equal(live.chat.status, 'ready')
    const waiting = live.chat.messages[1]
    t.match(waiting?.parts.at(-1), { type: 'tool-ask_colour', state: 'input-available' })
    await assertAgreement(t, server, live)

    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: { colour: 'red' } })
    await showsText(live, 'Red it is')
    await atRest(live)
    t.equal(live.chat.error, undefined)
    t.equal(live.posts.length, 2, 'the client had no reason to ask again')
    t.equal(live.chat.messages.length, 2)
    t.equal(live.chat.messages[1]?.id, waiting?.id)
    t.strictSame(live.chat.messages[1]?.parts.map(({ type }) => type), ['step-start', 'text', 'tool-ask_colour', 'step-start', 'text'])
    t.strictSame(model.requests[1]?.messages.at(-1), { role: 'tool', callId: 'call-1', toolName: 'ask_colour', content: '{"colour":"red"}' })
    await assertAgreement(t, server, live)

    await live.chat.sendMessage({ text: 'Thanks' })
    t.equal(model.requests.length, 3)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a tool answered as it is called goes on when its message is at rest`, async (t) => {
    const model = scriptedModel([asking, ['Blue it is']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, {
      id: 'answered-at-once',
      sendAutomatically: 'when-tools-are-answered',
      onToolCall: ({ toolCall: { toolCallId, toolName } }) => { void live.chat.addToolOutput({ tool: toolName, toolCallId, output: 'blue' }) }
    })
    await live.chat.sendMessage({ text: 'Paint it' })
    await showsText(live, 'Blue it is')
    await atRest(live)
    t.equal(live.posts.length, 2)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: two client tools of one step are answered together`, async (t) => {
    const model = scriptedModel([[...asking, ...toolCall('call-2', 'ask_size')], ['A large red one']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'two-client-tools', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Make one' })
    await live.chat.addToolOutput({ tool: 'ask_size', toolCallId: 'call-2', output: 'large' })
    t.equal(live.posts.length, 1, 'one answer is not enough')
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', state: 'output-error', errorText: 'the user closed the window' })
    await showsText(live, 'A large red one')
    await atRest(live)
    t.equal(live.posts.length, 2)
    t.strictSame(model.requests[1]?.messages.slice(-2).map((message) => 'content' in message ? message.content : ''), ['Error: the user closed the window', 'large'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: tools asked for again and again end with the answer`, async (t) => {
    const model = scriptedModel([asking, ['And? ', ...toolCall('call-1', 'ask_colour')], toolCall('call-3', 'ask_size'), ['Done']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'again-and-again', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    for (let round = 0; round < 3; round++) {
      await until('a tool waits', () => live.chat.status === 'ready' && waitingCall(live.chat) !== undefined)
      await live.chat.addToolOutput({ tool: 'ask', toolCallId: waitingCall(live.chat) ?? '', output: `answer ${round}` })
    }
    await showsText(live, 'Done')
    await atRest(live)
    t.equal(live.posts.length, 4)
    t.equal(live.chat.messages.length, 2)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: outputs posted twice are taken once, and both posts show the whole answer`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([asking, ['Red ', { until: gate.opened }, 'it is']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'posted-twice' })
    await live.chat.sendMessage({ text: 'Paint it' })
    const twin = await openChat(client, server, { id: 'posted-twice', messages: live.chat.messages })
    const late = await openChat(client, server, { id: 'posted-twice', messages: live.chat.messages })
    for (const { chat } of [live, twin, late]) await chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    const sent = [live.chat.sendMessage(), twin.chat.sendMessage()]
    for (const reader of [live, twin]) await showsText(reader, 'Red ')
    gate.open()
    await Promise.all(sent)
    await late.chat.sendMessage()
    t.equal(model.requests.length, 2)
    for (const reader of [live, twin, late]) {
      t.equal(reader.chat.error, undefined)
      t.strictSame(textsOf(reader.chat.messages), ['Paint it', 'Which colour? Red it is'])
      await assertAgreement(t, server, reader)
    }
  })

  t.test(`${client}: outputs posted one by one go on with the last of them`, async (t) => {
    const model = scriptedModel([[...asking, ...toolCall('call-2', 'ask_size')], ['A large red one']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'one-by-one' })
    await live.chat.sendMessage({ text: 'Make one' })
    await live.chat.addToolOutput({ tool: 'ask_size', toolCallId: 'call-2', output: 'large' })
    await live.chat.sendMessage()
    t.equal(model.requests.length, 1)
    await assertAgreement(t, server, live)
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await live.chat.sendMessage()
    t.strictSame(textsOf(live.chat.messages), ['Make one', 'Which colour? A large red one'])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: an answer that comes after the user went on is refused, and nobody asks for ever`, async (t) => {
    const model = scriptedModel([asking, ['Never mind']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'too-late', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    await post(`${server.url}/api/chat`, { id: 'too-late', text: 'Forget it' })
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await atRest(live, () => live.chat.status === 'error')
    t.equal(live.posts.length, 2)
    t.match(JSON.parse(live.chat.error?.message ?? ''), { code: 'conflict' })
    const history = await historyOf(server.url, 'too-late')
    t.match(history[1]?.parts.at(-1), { state: 'output-error', errorText: 'superseded' })
  })

  t.test(`${client}: a message that waits is let go by a stop or by the next message, and the model hears so`, async (t) => {
    for (const [how, word] of [['stop', 'stopped'], ['go on', 'superseded']] as const) {
      const model = scriptedModel([asking, ['Fine']])
      const server = await startApp(t, { model, agents })
      const live = await openChat(client, server, { id: 'let-go-thread' })
      await live.chat.sendMessage({ text: 'Paint it' })
      if (how === 'stop') await fetch(`${server.url}/v1/threads/let-go-thread/stop`, { method: 'POST' })
      await live.chat.sendMessage({ text: 'Never mind' })
      t.strictSame(textsOf(live.chat.messages), ['Paint it', 'Which colour? ', 'Never mind', 'Fine'])
      t.match(model.requests[1]?.messages, [{ role: 'user' }, { toolCalls: [{ callId: 'call-1' }] }, { role: 'tool', callId: 'call-1', content: `Error: ${word}` }, { role: 'user' }])
      const reloaded = await openChat(client, server, { id: 'let-go-thread', messages: await historyOf(server.url, 'let-go-thread') })
      t.match(reloaded.chat.messages[1]?.parts.at(-1), { state: 'output-error', errorText: word })
      await reloaded.chat.sendMessage({ text: 'Thanks' })
      await assertAgreement(t, server, reloaded)
    }
  })

  t.test(`${client}: a continuation that breaks off keeps the message, which can be made anew`, async (t) => {
    const model = scriptedModel([asking, ['Red ', { throw: new Error('no') }], ['Painted']])
    const server = await startApp(t, { model, agents })
    const live = await openChat(client, server, { id: 'broken-continuation', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Paint it' })
    await live.chat.addToolOutput({ tool: 'ask_colour', toolCallId: 'call-1', output: 'red' })
    await atRest(live, () => live.chat.status === 'error')
    t.equal(live.posts.length, 2)
    t.strictSame(textsOf(live.chat.messages), ['Paint it', 'Which colour? Red '])
    await assertAgreement(t, server, live)
    await live.chat.regenerate()
    t.strictSame(textsOf(live.chat.messages), ['Paint it', 'Painted'])
    t.equal(model.requests[2]?.messages.length, 1)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a run stopped inside a tool does not make the client ask for ever`, async (t) => {
    const slow = defineTool({ name: 'slow', execute: () => new Promise(() => {}) })
    const model = scriptedModel([toolCall('call-1', 'slow')])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [slow] }] })
    const live = await openChat(client, server, { id: 'stopped-in-tool', sendAutomatically: 'when-tools-are-answered' })
    const sent = live.chat.sendMessage({ text: 'Begin' })
    await until('the tool runs', () => waitingCall(live.chat) === 'call-1')
    await fetch(`${server.url}/v1/threads/stopped-in-tool/stop`, { method: 'POST' })
    await sent
    await atRest(live)
    t.equal(live.chat.error, undefined)
    t.equal(live.posts.length, 1)
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a model that calls tools beyond the limit ends with a notice, and the client asks no further`, async (t) => {
    const echo = defineTool({ name: 'echo', execute: () => 'echo' })
    const model = scriptedModel([toolCall('call-1', 'echo')])
    const server = await startApp(t, { model, agents: [{ key: 'tester', tools: [echo], maxSteps: 2 }] })
    const live = await openChat(client, server, { id: 'at-the-limit', sendAutomatically: 'when-tools-are-answered' })
    await live.chat.sendMessage({ text: 'Begin' })
    await atRest(live)
    t.equal(live.chat.error, undefined)
    t.equal(live.posts.length, 1)
    t.equal(model.requests.length, 2)
    t.match(textsOf(live.chat.messages)[1], /limit/)
    await assertAgreement(t, server, live)
  })
}

function waitingCall ({ messages }: Chat): string | undefined {
  const part = messages.at(-1)?.parts.find(({ state }) => state === 'input-available')
  return part === undefined ? undefined : String(part['toolCallId'])
}

t.test('what a branch waits for is answered when another branch goes on, and when it is stopped from there', async (t) => {
  for (const goOn of ['messages', 'stop']) {
    const { url } = await startApp(t, { model: scriptedModel([['First'], asking, ['Elsewhere']]), agents })
    const thread = `${url}/v1/threads/two-branches`
    const show = async (headId: string) => await fetch(thread, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ headId }) })
    await post(`${thread}/messages`, { text: 'One' })
    const { items: [, first] } = await getJson(`${thread}/messages`)
    await post(`${thread}/messages`, { text: 'Paint it' })
    const waiting = (await getJson(`${thread}/messages`)).items.at(-1)
    await show(first.id)
    t.equal((await post(`${thread}/${goOn}`, { text: 'Something else' })).status, 200)
    await show(waiting.id)
    const kept = (await getJson(`${thread}/messages`)).items.at(-1)
    t.match(kept, { id: waiting.id, metadata: { status: 'stopped' } })
    t.match(kept.parts.at(-1), { type: 'tool-ask_colour', state: 'output-error' }, `${goOn}: nobody is asked what nobody waits for`)
  }
})

t.test('results for a message that was deleted meanwhile ask no model', async (t) => {
  const model = scriptedModel([asking, ['Unwanted']])
  const { url } = await startApp(t, { model, agents })
  const thread = `${url}/v1/threads/deleted-waiting`
  await post(`${thread}/messages`, { text: 'Paint it' })
  const waiting = (await getJson(`${thread}/messages`)).items.at(-1)
  t.equal((await fetch(`${thread}/messages/${waiting.id}`, { method: 'DELETE' })).status, 204)
  const parts = [...waiting.parts.slice(0, -1), { ...waiting.parts.at(-1), state: 'output-available', output: 'red' }]
  t.match(await post(`${thread}/messages`, { message: { ...waiting, parts } }), { status: 404, body: /not_found/ })
  t.equal(model.requests.length, 1)
})
