import t, { type Test } from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../src/agents/agent.ts'
import { defineTool } from '../../src/tools/tool.ts'
import { agUiClients, historyTold, openAgent, textsOf, told, type LiveAgent, type RunEnd } from '../helpers/ag-ui-clients.ts'
import { getJson, post, startApp, type TestApp } from '../helpers/app.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../helpers/scripted-model.ts'

interface Interrupt { readonly id: string, readonly toolCallId: string, readonly reason: string, readonly expiresAt: string, readonly responseSchema: object }

const send = (id: string, to: string) => toolCall(id, 'send', { to })

/** A service whose gated tool writes down what it did. */
async function serve (t: Test, scripts: Readonly<Record<string, ReadonlyArray<readonly ScriptStep[]>>>, agents: readonly AgentDefinition[] = [{ key: 'tester' }]) {
  const done: string[] = []
  const gated = defineTool({ name: 'send', input: z.object({ to: z.string() }), needsApproval: true, execute: ({ to }) => { done.push(to); return `sent to ${to}` } })
  const colour = defineTool({ name: 'ask_colour', input: z.object({}) })
  const models = Object.fromEntries(Object.entries(scripts).map(([key, responses]) => [`test:${key}`, scriptedModel(responses, { id: `test:${key}` })]))
  const server = await startApp(t, { models: { get: (id) => models[id]!, defaultModel: 'test:tester' }, agents: agents.map((agent) => ({ model: `test:${agent.key}`, tools: [gated, colour], ...agent })) })
  return { ...server, done, model: models['test:tester']! }
}

const interruptsOf = ({ agent }: LiveAgent) => agent.pendingInterrupts as readonly Interrupt[]

for (const client of agUiClients) {
  t.test(`${client}: its answers to interrupts are verdicts, and the same message goes on`, async (t) => {
    const server = await serve(t, { tester: [['Both? ', ...send('c1', 'ada'), ...send('c2', 'bob')], ['Sent to one.'], ['Gladly.']] })
    const live = await openAgent(client, server, 'approved-thread')
    const waiting = await live.say('Send them')
    accepted(t, waiting)
    t.equal(waiting.outcome, 'interrupt')
    const [first, second] = interruptsOf(live)
    t.match([first, second], [{ reason: 'tool_call', toolCallId: 'c1', responseSchema: { required: ['approved'] } }, { toolCallId: 'c2' }])

    const end = await live.run({ resume: [{ interruptId: first?.id, status: 'resolved', payload: { approved: true } }, { interruptId: second?.id, status: 'resolved', payload: { approved: false, reason: 'Not him.' } }] })
    accepted(t, end)
    t.equal(end.outcome, 'success')
    t.strictSame(interruptsOf(live), [])
    t.strictSame(server.done, ['ada'])
    t.strictSame(textsOf(live.agent.messages), ['Send them', 'Both? ', 'Sent to one.'])
    t.strictSame(told(live.agent.messages).filter(({ role }) => role === 'tool').map(({ toolCallId, content }) => [toolCallId, content]), [['c1', 'sent to ada'], ['c2', 'Denied: Not him.']])
    t.match(server.model.requests[1]?.messages.slice(-2), [{ content: 'sent to ada' }, { content: 'Denied: Not him.' }])
    await assertAgreement(t, server, live, ['c2'])
    accepted(t, await live.say('Thanks'))
    await assertAgreement(t, server, live, ['c2'])
  })

  t.test(`${client}: a cancelled interrupt is a denial, and an interrupt in answer to an answer is asked anew`, async (t) => {
    const server = await serve(t, { tester: [send('c1', 'ada'), send('c2', 'bob'), ['Nobody then.']] })
    const live = await openAgent(client, server, 'cancelled-thread')
    await live.say('Send them')
    for (const callId of ['c1', 'c2']) {
      t.match(interruptsOf(live), [{ toolCallId: callId }])
      accepted(t, await live.run({ resume: interruptsOf(live).map(({ id }) => ({ interruptId: id, status: 'cancelled' })) }))
    }
    t.strictSame(textsOf(live.agent.messages), ['Send them', 'Nobody then.'])
    t.strictSame(server.done, [])
    await assertAgreement(t, server, live, ['c1', 'c2'])
  })

  t.test(`${client}: a call of a member two levels down, beside a tool of the client, is answered in one run`, async (t) => {
    const server = await serve(t, {
      tester: [[...toolCall('d1', 'a', { task: 'x' }), ...toolCall('k1', 'ask_colour')], ['All done.']],
      a: [toolCall('d2', 'b', { task: 'y' }), ['A.']],
      b: [send('deep', 'ada'), ['B.']]
    }, [{ key: 'tester', agents: ['a'], subagentStream: 'full' }, { key: 'a', agents: ['b'] }, { key: 'b' }])
    const live = await openAgent(client, server, 'nested-thread')
    accepted(t, await live.say('Go'))
    t.match(interruptsOf(live), [{ toolCallId: 'deep' }])
    live.agent.addMessage({ id: 'answer-k1', role: 'tool', toolCallId: 'k1', content: 'red' })
    const end = await live.run({ resume: [{ interruptId: interruptsOf(live)[0]?.id, status: 'resolved', payload: { approved: true } }] })
    accepted(t, end)
    t.strictSame(server.done, ['ada'])
    t.equal(textsOf(live.agent.messages).at(-1), 'All done.')
    t.match(server.model.requests[1]?.messages.slice(-2), [{ content: /^A\./ }, { content: 'red' }])
    await assertAgreement(t, server, live)
  })

  t.test(`${client}: a new message with what waited cancelled goes on without it`, async (t) => {
    const server = await serve(t, { tester: [send('c1', 'ada'), ['Another answer.']] })
    const live = await openAgent(client, server, 'superseded-thread')
    await live.say('Send it')
    live.agent.addMessage({ id: 'question-new', role: 'user', content: 'Never mind' })
    const resume = interruptsOf(live).map(({ id }) => ({ interruptId: id, status: 'cancelled' }))
    accepted(t, await live.run({ resume }))
    t.equal(textsOf(live.agent.messages).at(-1), 'Another answer.')
    t.strictSame(server.done, [])
    t.strictSame((await getJson(`${server.url}/v1/threads/superseded-thread/approvals`)).items, [])
  })
}

t.test('what is wrong with an answer to an interrupt is refused, and nothing runs', async (t) => {
  const { url, done } = await serve(t, { tester: [[...send('c1', 'ada'), ...send('c2', 'bob')], ['Sent.']] })
  const question = { id: 'question-1', role: 'user', content: 'Send them' }
  const calling = { id: 'a', role: 'assistant', toolCalls: [] }
  const run = (resume: readonly object[], messages: readonly object[] = [question, calling]) => post(`${url}/v1/agents/tester/ag-ui`, { threadId: 'refusing-thread', runId: 'run-1', messages, resume })
  t.match((await run([], [question])).chunks.at(-1), { outcome: { type: 'interrupt' } }, 'an empty list answers nothing')
  const { items: [first, second] } = await getJson(`${url}/v1/threads/refusing-thread/approvals`)
  const yes = { status: 'resolved', payload: { approved: true } }
  for (const [entry, path] of [
    [{ ...yes }, 'resume.0.interruptId'], [{ ...yes, interruptId: first.id, status: 'maybe' }, 'resume.0.status'],
    [{ interruptId: first.id, status: 'resolved' }, 'resume.0.payload'], [{ interruptId: first.id, status: 'resolved', payload: { approved: 'yes' } }, 'resume.0.payload.approved'],
    [{ interruptId: first.id, status: 'resolved', payload: { approved: false, reason: 'a\0b' } }, 'resume.0.payload.reason']
  ] as const) {
    const reply = await run([entry])
    t.equal(reply.status, 400, path)
    t.match(JSON.parse(reply.body), { code: 'invalid_request', details: { issues: [{ path }] } }, path)
  }
  t.match(JSON.parse((await run([{ ...yes, interruptId: first.id }], [question, calling, { ...question, id: 'question-2' }])).body), { code: 'invalid_request', details: { issues: [{ path: 'resume.0.status' }] } }, 'a new message goes on without what waits')
  const unknown = await run([{ ...yes, interruptId: 'nobodys' }])
  t.equal(unknown.status, 409)
  t.match(JSON.parse(unknown.body), { details: { reason: 'unknown' } })

  const half = await run([{ ...yes, interruptId: first.id }], [])
  t.match(half.chunks.at(-1), { outcome: { type: 'interrupt', interrupts: { length: 1, 0: { id: second.id } } } }, 'one of two is kept, also of a client without messages; the other is asked for again')
  t.strictSame(done, [])
  t.match((await run([{ interruptId: first.id, status: 'cancelled' }, { ...yes, interruptId: second.id }])).chunks.at(-1), { type: 'RUN_FINISHED' })
  t.strictSame(done, ['ada', 'bob'], 'the first verdict holds')
  t.match((await run([{ ...yes, interruptId: second.id }])).chunks.at(-1), { type: 'RUN_FINISHED' }, 'again, it brings what came of it')
  t.strictSame(done, ['ada', 'bob'])
})

/** `denied` are the calls whose results only the client has: history has no text for a denial. */
async function assertAgreement (t: Test, { url }: Pick<TestApp, 'url'>, { agent }: LiveAgent, denied: readonly string[] = []): Promise<void> {
  const others = ({ role, toolCallId }: ReturnType<typeof told>[number]) => role !== 'tool' || !denied.includes(toolCallId ?? '')
  t.strictSame(told(agent.messages).filter(others), (await historyTold(url, agent.threadId)).filter(others), 'a reload shows what the client has')
}

/** The client took every event of the run and found nothing to leave out. */
function accepted (t: Test, { error, warnings }: RunEnd): void {
  t.equal(error, undefined, 'the client accepts the run')
  t.strictSame(warnings, [], 'and everything in it')
}
