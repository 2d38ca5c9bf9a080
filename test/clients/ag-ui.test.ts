import t, { type Test } from 'tap'
import { AppError } from '../../src/errors.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { agUiClients, foldAgUi, historyTold, openAgent, textsOf, told, typesOf, type LiveAgent, type RunEnd } from '../helpers/ag-ui-clients.ts'
import { getJson, post, startApp, until, type TestApp } from '../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'
import { createGate } from './live-chat.ts'

const lookUp = defineTool({ name: 'look_up', input: { type: 'object' }, execute: () => ({ found: 1 }) })
const askColour = defineTool({ name: 'ask_colour', description: 'Asks the user for a colour.', input: { type: 'object', properties: { of: { type: 'string' } } } })
const askSize = defineTool({ name: 'ask_size', description: 'Asks the user for a size.' })
const agents = [{ key: 'tester', tools: [lookUp, askColour, askSize] }]
const asking: readonly ScriptStep[] = ['Which colour?', ...toolCall('call-1', 'ask_colour', { of: 'it' })]
const thinking = (delta: string): ScriptStep => ({ type: 'reasoning-delta', delta })

for (const client of agUiClients) {
  t.test(`${client}: turns of a thread with reasoning and tools are what the thread has`, async (t) => {
    const model = scriptedModel([[thinking('Hm.'), 'One moment.', ...toolCall('c1', 'look_up', { a: 1 }), ...toolCall('c2', 'no_such_tool')], [thinking('Ah.'), 'It is there.'], ['Yes.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, run } = await openAgent(client, server, 'thread-1')
    accepted(t, await say('Where is it?', 'question-1'))
    t.strictSame(textsOf(agent.messages), ['Where is it?', 'One moment.', 'It is there.'])
    await assertAgreement(t, server, agent)
    t.match(agent.messages.map(({ role }) => role), ['user', 'reasoning', 'assistant', 'tool', 'tool', 'reasoning', 'assistant'])

    agent.addMessage({ id: 'question-2', role: 'user', content: [{ type: 'text', text: 'Sure?' }] })
    const end = await run({ runId: 'run-of-theirs' })
    accepted(t, end)
    t.match(end.events[0], { type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-of-theirs' })
    t.match(end.events.at(-1), { type: 'RUN_FINISHED', threadId: 'thread-1', runId: 'run-of-theirs', usage: [{ model: 'test:scripted', inputTokens: 10, outputTokens: 5 }] })
    t.strictSame(model.requests[2]?.messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool', 'assistant', 'user'])
    t.match(await getJson(`${server.url}/v1/threads/thread-1`), { messageCount: 4 })

    const { items: [question, , , answer] } = await getJson(`${server.url}/v1/threads/thread-1/messages`)
    t.equal(question.id, 'question-1')
    t.equal(agent.messages.at(-1)?.id, answer.id, 'an answer has the id it is stored and rated by')
    const { rating, siblings, ...metadata } = answer.metadata
    t.strictSame(Object.keys((end.events.at(-1)?.['metadata'] as { parley: object }).parley).sort(), Object.keys(metadata).sort())
    t.match(end.events.at(-1), { metadata: { parley: { status: 'completed', finishReason: 'stop', runId: metadata.runId, threadId: 'thread-1' } } })
  })

  t.test(`${client}: a client tool ends the run, and its result goes on with the same answer`, async (t) => {
    const model = scriptedModel([asking, [thinking('Red.'), 'Red it is.'], ['Gladly.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, answer, run } = await openAgent(client, server, 'client-tool')
    const waiting = await say('Paint it')
    accepted(t, waiting)
    t.equal(waiting.outcome, 'success', 'nothing that the client would have to answer by name')
    t.match(waiting.events.at(-1), { type: 'RUN_FINISHED', metadata: { parley: { status: 'suspended', finishReason: 'tool-calls' } } })
    if (client === 'agui1') t.strictSame(waiting.pendingToolCallIds, ['call-1'])
    t.match(told(agent.messages).at(-1), { content: 'Which colour?', calls: [{ id: 'call-1', name: 'ask_colour', input: { of: 'it' } }] })
    await assertAgreement(t, server, agent)
    accepted(t, await run())
    await assertAgreement(t, server, agent)
    t.equal(model.requests.length, 1, 'asked again, it still waits')

    accepted(t, await answer('call-1', '{"colour":"red"}'))
    t.strictSame(textsOf(agent.messages), ['Paint it', 'Which colour?', 'Red it is.'])
    t.strictSame(model.requests[1]?.messages.at(-1), { role: 'tool', callId: 'call-1', toolName: 'ask_colour', content: '{"colour":"red"}' })
    await assertAgreement(t, server, agent)
    t.equal((await getJson(`${server.url}/v1/threads/client-tool/messages`)).items.length, 2, 'one question and one answer')

    accepted(t, await say('Thanks'))
    await assertAgreement(t, server, agent)
  })

  t.test(`${client}: two client tools are answered one by one, and one of them failed`, async (t) => {
    const model = scriptedModel([[...asking, ...toolCall('call-2', 'ask_size')], ['A large one.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, answer } = await openAgent(client, server, 'two-client-tools')
    await say('Make one')
    const half = await answer('call-2', 'large')
    accepted(t, half)
    t.equal(model.requests.length, 1)
    t.strictSame(typesOf(half.events), ['RUN_STARTED', 'RUN_FINISHED'], 'the client has all there is')
    await assertAgreement(t, server, agent)

    accepted(t, await answer('call-1', 'the user closed the window', { error: 'the user closed the window' }))
    t.strictSame(textsOf(agent.messages), ['Make one', 'Which colour?', 'A large one.'])
    t.strictSame(model.requests[1]?.messages.slice(-2).map((message) => 'content' in message ? message.content : ''), ['Error: the user closed the window', 'large'])
    await assertAgreement(t, server, agent)
  })

  t.test(`${client}: client tools of step after step go on with one answer, whose results are posted whole each time`, async (t) => {
    const model = scriptedModel([asking, ['And?', ...toolCall('c2', 'look_up'), ...toolCall('call-2', 'ask_size')], ['Done.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, answer, run } = await openAgent(client, server, 'step-after-step')
    await say('Paint it')
    await answer('call-1', 'red')
    await assertAgreement(t, server, agent)
    accepted(t, await answer('call-2', 'large'))
    t.strictSame(textsOf(agent.messages), ['Paint it', 'Which colour?', 'And?', 'Done.'])
    await assertAgreement(t, server, agent)

    accepted(t, await run())
    t.equal(model.requests.length, 3, 'posted again, it asks no model')
    t.strictSame(textsOf(agent.messages), ['Paint it', 'Which colour?', 'And?', 'Done.'])
    await assertAgreement(t, server, agent)
  })

  t.test(`${client}: a user who goes on without answering a tool lets it go, and an answer after that is refused`, async (t) => {
    const model = scriptedModel([asking, ['Never mind.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, answer } = await openAgent(client, server, 'let-go-thread')
    await say('Paint it')
    accepted(t, await say('Forget it'))
    t.match(model.requests[1]?.messages[2], { role: 'tool', content: 'Error: superseded' })
    agent.setMessages(agent.messages.slice(0, 2))
    t.match((await answer('call-1', 'red')).error, { status: 409, payload: { code: 'conflict' } })
  })

  t.test(`${client}: a stopped answer keeps its text, and the next message is answered`, async (t) => {
    const model = scriptedModel([[thinking('Hm.'), 'Once upon', { hang: true }], ['The end.']])
    const server = await startApp(t, { model, agents })
    const live = await openAgent(client, server, 'stopped-thread')
    const said = live.say('A story')
    await shows(live, 'Once upon')
    t.equal((await fetch(`${server.url}/v1/threads/stopped-thread/stop`, { method: 'POST' })).status, 200)
    const end = await said
    accepted(t, end)
    t.match(end.events.at(-1), { type: 'RUN_FINISHED', metadata: { parley: { status: 'stopped' } } })
    t.equal(end.outcome, client === 'agui1' ? 'cancelled' : 'success', 'as far as the client has a word for it')
    t.equal(model.closed(), 1, 'the model was let go')
    await assertAgreement(t, server, live.agent)

    accepted(t, await live.say('Go on'))
    t.strictSame(textsOf(live.agent.messages), ['A story', 'Once upon', 'Go on', 'The end.'])
    await assertAgreement(t, server, live.agent)
  })

  t.test(`${client}: a run stopped inside a tool answers its call`, async (t) => {
    const slow = defineTool({ name: 'slow', execute: () => new Promise(() => {}) })
    const server = await startApp(t, { model: scriptedModel([toolCall('c1', 'slow')]), agents: [{ key: 'tester', tools: [slow] }] })
    const live = await openAgent(client, server, 'stopped-in-tool')
    const said = live.say('Begin')
    await until('the tool runs', () => live.agent.messages.some(({ toolCalls }) => toolCalls?.[0]?.function.arguments === '{}'))
    await fetch(`${server.url}/v1/threads/stopped-in-tool/stop`, { method: 'POST' })
    accepted(t, await said)
    t.match(live.agent.messages.at(-1), { role: 'tool', toolCallId: 'c1', content: 'stopped', metadata: { parley: { state: 'output-error' } } })
    await assertAgreement(t, server, live.agent)
  })

  t.test(`${client}: a client that leaves does not stop the answer, and gets it whole when it asks again`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([[thinking('Hm.'), 'One moment.', ...toolCall('c1', 'look_up')], [thinking('Ah.'), 'Once upon', { until: gate.opened }, ' a time']])
    const server = await startApp(t, { model, agents })
    const live = await openAgent(client, server, 'left-thread')
    const said = live.say('A story')
    await shows(live, 'Once upon')
    live.agent.abortRun()
    await said
    t.strictSame(textsOf(live.agent.messages), ['A story', 'One moment.', 'Once upon'])

    const again = live.run()
    await until('the client is told again', () => live.agent.messages.filter(({ role }) => role === 'assistant').length === 2)
    gate.open()
    accepted(t, await again)
    t.equal(model.requests.length, 2, 'the model was not asked anew')
    t.strictSame(textsOf(live.agent.messages), ['A story', 'One moment.', 'Once upon a time'])
    await assertAgreement(t, server, live.agent)

    accepted(t, await live.run())
    t.equal(model.requests.length, 2, 'nor is it after the end')
    await assertAgreement(t, server, live.agent)
  })

  t.test(`${client}: a client that leaves a continuation gets the rest when it posts the result again`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([asking, [thinking('Red?'), 'I see.', ...toolCall('c2', 'look_up')], ['Red', { until: gate.opened }, ' it is.']])
    const server = await startApp(t, { model, agents })
    const live = await openAgent(client, server, 'left-continuation')
    await live.say('Paint it')
    const answered = live.answer('call-1', 'red')
    await shows(live, 'Red')
    live.agent.abortRun()
    await answered
    const again = live.run()
    await until('the client is told again', () => live.agent.messages.some(({ content }) => content === 'Red'))
    gate.open()
    accepted(t, await again)
    t.equal(model.requests.length, 3)
    t.strictSame(textsOf(live.agent.messages), ['Paint it', 'Which colour?', 'I see.', 'Red it is.'])
    await assertAgreement(t, server, live.agent)
  })

  t.test(`${client}: a model that breaks off is an error of the run, and asking again is answered anew`, async (t) => {
    const broken = { throw: new AppError('provider_unavailable', 'The model is away.') }
    const model = scriptedModel([[thinking('Hm.'), 'Once upon', broken], ['The end.'], ['Gladly.']])
    const server = await startApp(t, { model, agents })
    const { agent, say, run } = await openAgent(client, server, 'broken-off')
    const end = await say('A story')
    t.strictSame(end.warnings, [])
    t.match(end.events.at(-1), { type: 'RUN_ERROR', message: 'The model is away.', code: 'provider_unavailable', metadata: { parley: { status: 'failed', retryable: true, ref: /^[0-9a-f]{8}$/ } } })
    t.equal(end.outcome, undefined)
    t.strictSame(textsOf(agent.messages), ['A story', 'Once upon'])
    await assertAgreement(t, server, agent)

    accepted(t, await run())
    t.strictSame(textsOf(agent.messages), ['A story', 'The end.'])
    const withoutThoughts = (messages: readonly { readonly role: string }[]) => messages.filter(({ role }) => role !== 'reasoning')
    t.strictSame(withoutThoughts(told(agent.messages)), withoutThoughts(await historyTold(server.url, 'broken-off')))
    accepted(t, await say('Thanks'))
    t.strictSame(textsOf(agent.messages), ['A story', 'The end.', 'Thanks', 'Gladly.'])
  })

  t.test(`${client}: a message posted twice at once is one question and one answer, shown whole to both`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once ', { until: gate.opened }, 'upon a time']])
    const server = await startApp(t, { model, agents })
    const both = await Promise.all([1, 2].map(() => openAgent(client, server, 'double-click')))
    const said = both.map(({ say }) => say('A story', 'question-1'))
    for (const live of both) await shows(live, 'Once')
    gate.open()
    await Promise.all(said)
    t.equal(model.requests.length, 1)
    for (const { agent } of both) {
      t.strictSame(textsOf(agent.messages), ['A story', 'Once upon a time'])
      await assertAgreement(t, server, agent)
    }
  })

  t.test(`${client}: what cannot be begun is an HTTP error with its code`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once', { until: gate.opened }]])
    const server = await startApp(t, { model, agents: [...agents, { key: 'other' }] })
    const live = await openAgent(client, server, 'busy-thread')
    const said = live.say('A story')
    await shows(live, 'Once')
    const other = await openAgent(client, server, 'busy-thread')
    t.match((await other.say('Hurry up')).error, { status: 409, payload: { code: 'thread_busy', retryable: true } })
    gate.open()
    accepted(t, await said)
    t.match((await other.say('As someone else', 'question-x')).error, undefined, 'the thread is free')

    const short = await openAgent(client, server, 'short')
    t.match((await short.say('Hi')).error, { status: 400, payload: { code: 'invalid_request', details: { issues: [{ path: 'threadId' }] } } })
    const empty = await openAgent(client, server, 'empty-thread')
    t.match((await empty.say(' ')).error, { status: 400, payload: { code: 'invalid_request', details: { issues: [{ path: 'messages.0.content' }] } } })
    t.match((await empty.answer('call-9', 'red')).error, { status: 404, payload: { code: 'not_found' } })
    for (const [agent, status, code] of [['nobody', 404, 'not_found'], ['other', 409, 'conflict']] as const) {
      const asked = await openAgent(client, server, 'busy-thread', agent)
      t.match((await asked.say('Hi')).error, { status, payload: { code } }, agent)
    }
  })

  t.test(`${client}: comments in the silence and a thread of another client are no trouble`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['From elsewhere.'], [{ until: gate.opened }, 'Late.']])
    const server = await startApp(t, { model, agents, env: { HEARTBEAT_MS: '20' } })
    await post(`${server.url}/api/chat`, { id: 'shared-thread', messages: [{ id: 'first-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] })
    const live = await openAgent(client, server, 'shared-thread')
    const said = live.say('And here?')
    await new Promise((resolve) => { setTimeout(resolve, 100) }) // several heartbeats long
    gate.open()
    accepted(t, await said)
    t.strictSame(model.requests[1]?.messages.map(({ role }) => role), ['user', 'assistant', 'user'], 'history is the service\'s')
    t.strictSame(told(live.agent.messages), (await historyTold(server.url, 'shared-thread')).slice(2))
  })

  t.test(`${client}: the routes of a thread speak it too, where they are asked to or where the agent does`, async (t) => {
    const gate = createGate()
    const model = scriptedModel([['Once', { until: gate.opened }, ' upon'], ['More.']])
    const server = await startApp(t, { model, agents: [{ key: 'tester', protocol: 'ag-ui' }] })
    const first = post(`${server.url}/v1/threads/thread-1/messages`, { text: 'A story' })
    await until('it is written', async () => (await fetch(`${server.url}/v1/threads/thread-1/messages?include=streaming`)).status === 200 && model.requests.length === 1)
    const joined = fetch(`${server.url}/v1/threads/thread-1/stream`).then((response) => response.text())
    await until('both read', async () => (await getJson(`${server.url}/v1/threads/thread-1/messages?include=streaming`)).items.length === 2)
    gate.open()
    const whole = (await getJsonAfter(joined, server.url))[1]
    for (const bytes of [(await first).body, await joined, (await post(`${server.url}/api/chat?protocol=ag-ui`, { id: 'thread-2', text: 'Hi' })).body]) {
      const end = await foldAgUi(client, bytes)
      accepted(t, end)
      t.equal(end.outcome, 'success')
      if (bytes.includes('Once')) t.strictSame(told(end.messages), [whole])
    }
  })
}

async function getJsonAfter (stream: Promise<string>, url: string) {
  await stream
  return await historyTold(url, 'thread-1')
}

/** What must hold once a conversation is at rest: a reload shows what the client has, as far as both have words for it. */
async function assertAgreement (t: Test, { url }: Pick<TestApp, 'url'>, { threadId, messages }: LiveAgent['agent']): Promise<void> {
  t.strictSame(told(messages), await historyTold(url, threadId), 'a reload shows what the client has')
}

/** The client took every event of the run and found nothing to leave out. */
function accepted (t: Test, { error, warnings }: RunEnd): void {
  t.equal(error, undefined, 'the client accepts the run')
  t.strictSame(warnings, [], 'and everything in it')
}

async function shows ({ agent }: LiveAgent, text: string): Promise<void> {
  await until(`the client shows "${text}"`, () => textsOf(agent.messages).some((shown) => String(shown).includes(text)))
}
