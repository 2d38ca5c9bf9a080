import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { z } from 'zod'
import { defineTool, type Tool } from '../../src/tools/tool.ts'
import { until } from '../helpers/app.ts'
import { startCasesUpstream } from '../helpers/upstream.ts'
import { caseAgent, controlCase, newThreadId, nextMessageWorks, nothingLeaked, recordedTool, sameAfterReload, seen, startCaseService, unfinished, upstreamClosed } from './case-service.ts'

const upstream = await startCasesUpstream(t)
const oneCall = 'M05'

function agents (caseId: string, tools: readonly Tool[], more = {}) {
  return { agents: [caseAgent(caseId, { tools: [...tools], ...more }), caseAgent(controlCase, { tools: [...tools] })] }
}

t.test('T01: a model that repeats itself is stopped at the limit, and the user is told', async (t) => {
  const { tool, inputs } = recordedTool('echo')
  const service = await startCaseService(t, upstream, agents('M01', [tool], { maxSteps: 4 }))
  const threadId = newThreadId()
  const reply = await service.ask(threadId, 'Go')
  const answer = await sameAfterReload(t, service, threadId, reply)
  t.match(seen(answer).text, /limit/)
  t.match(answer.metadata, { status: 'completed', finishReason: 'other' })
  const requests = await service.requests()
  t.equal(requests.length, 4, 'no more requests than the limit allows')
  t.strictSame(requests.map(({ body }) => body.tools?.length ?? 0), [1, 1, 1, 0], 'the last one is made without tools')
  t.equal(inputs.length, 3)
  t.strictSame(unfinished(answer), [])
  await nextMessageWorks(t, service, threadId)
})

t.test('T01: a limit of tool calls holds too', async (t) => {
  const { tool, inputs } = recordedTool('echo')
  const service = await startCaseService(t, upstream, agents('M01', [tool], { maxToolCalls: 2 }))
  const threadId = newThreadId()
  const answer = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go'))
  t.equal(inputs.length, 2)
  t.equal((await service.requests()).length, 3)
  t.match(seen(answer).text, /limit/)
  await nextMessageWorks(t, service, threadId)
})

t.test('T04: a stop reaches a running tool within a second, and what the tool does later is ignored', async (t) => {
  const facts: { begun?: true, abortedAt?: number, done?: true } = {}
  const slow = defineTool({
    name: 'slow',
    execute: async (_, { signal, report }) => {
      facts.begun = true
      signal.addEventListener('abort', () => { facts.abortedAt = Date.now() })
      await until('the call is aborted', () => signal.aborted, 30_000)
      await sleep(50)
      report('too late')
      facts.done = true
      return 'LATE'
    }
  })
  const service = await startCaseService(t, upstream, agents(oneCall, [slow]))
  const threadId = newThreadId()
  const asked = service.ask(threadId, 'Go')
  await until('the tool runs', () => facts.begun === true)
  const stoppedAt = Date.now()
  await service.stop(threadId)
  const reply = await asked
  t.ok(Date.now() - stoppedAt < 1_000, 'the stream has ended')
  t.ok((facts.abortedAt ?? Infinity) - stoppedAt < 1_000, 'the tool was told')
  await until('the tool has ended', () => facts.done === true)
  await sleep(300) // a write that must not come
  const answer = await sameAfterReload(t, service, threadId, reply)
  t.strictSame(seen(answer).calls.map(({ state }) => state), ['output-error'])
  t.notMatch(JSON.stringify(answer), /LATE|too late/)
  t.equal(answer.metadata.status, 'stopped')
  await upstreamClosed(service)
  await nextMessageWorks(t, service, threadId)
})

const circular: Record<string, unknown> = { name: 'loop' }
circular['self'] = circular
const hostile = new Proxy({}, { ownKeys: () => { throw new Error('SECRETSECRET') } })
const results: ReadonlyArray<{ readonly what: string, readonly value: unknown, readonly output: unknown }> = [
  { what: 'undefined', value: undefined, output: null },
  { what: 'BigInt', value: 12345678901234567890n, output: '12345678901234567890' },
  { what: 'circular', value: circular, output: { name: 'loop', self: '[Circular]' } },
  { what: 'Buffer', value: Buffer.from('hi'), output: '[2 bytes, base64] aGk=' },
  { what: 'function', value: function later () {}, output: '[Function later]' },
  { what: 'symbol', value: Symbol('s'), output: '[Symbol(s)]' },
  { what: 'Map', value: new Map([['a', 1]]), output: { a: 1 } },
  { what: 'NaN', value: NaN, output: null },
  { what: 'throwing proxy', value: hostile, output: '[Unreadable]' },
  { what: 'lone surrogate', value: 'a\ud800b', output: 'a\ud800b' }
]

for (const { what, value, output } of results) {
  t.test(`T05: a tool that returns a ${what} gives a result that is stored, and the turn goes on`, async (t) => {
    const service = await startCaseService(t, upstream, agents(oneCall, [defineTool({ name: 'odd', input: z.looseObject({}), execute: () => value })]))
    const threadId = newThreadId()
    const reply = await service.ask(threadId, 'Go')
    const answer = await sameAfterReload(t, service, threadId, reply)
    t.match(seen(answer), { text: 'AFTER-TOOL', errors: [], calls: [{ state: 'output-available' }] })
    t.strictSame(answer.parts.find(({ type }) => type === 'tool-odd')?.['output'], output)
    const told = (await service.requests())[1]?.body.messages.find(({ role }) => role === 'tool')?.content ?? ''
    t.type(told, 'string')
    t.notMatch(told, /\p{Surrogate}/u)
    await nextMessageWorks(t, service, threadId)
    await nothingLeaked(t, service, threadId, [reply])
  })
}

t.test('T07: a tool that never settles is given up at its time limit, and the turn goes on', async (t) => {
  const stuck = defineTool({ name: 'stuck', timeoutMs: 200, execute: () => new Promise(() => {}) })
  const service = await startCaseService(t, upstream, agents(oneCall, [stuck]))
  const threadId = newThreadId()
  const begun = Date.now()
  const answer = await sameAfterReload(t, service, threadId, await service.ask(threadId, 'Go'))
  t.ok(Date.now() - begun < 3_000)
  t.match(seen(answer), { text: 'AFTER-TOOL', calls: [{ state: 'output-error' }] })
  t.match((await service.requests())[1]?.body.messages.at(-1), { role: 'tool', content: /did not answer within 200 ms/ })
  await nextMessageWorks(t, service, threadId)
})

t.test('T07: a tool that never settles and never listens can be stopped', async (t) => {
  let begun = false
  const stuck = defineTool({ name: 'stuck', execute: () => new Promise(() => { begun = true }) })
  const service = await startCaseService(t, upstream, agents(oneCall, [stuck]))
  const threadId = newThreadId()
  const asked = service.ask(threadId, 'Go')
  await until('the tool runs', () => begun)
  const stoppedAt = Date.now()
  await service.stop(threadId)
  const answer = await sameAfterReload(t, service, threadId, await asked)
  t.ok(Date.now() - stoppedAt < 1_000)
  t.equal(answer.metadata.status, 'stopped')
  await nextMessageWorks(t, service, threadId)
})

t.test('T09: a call that a stop left without a result goes to the model as a closed pair', async (t) => {
  let begun = false
  const slow = defineTool({ name: 'slow', execute: async (_, { signal }) => { begun = true; await until('aborted', () => signal.aborted, 30_000) } })
  const service = await startCaseService(t, upstream, agents(oneCall, [slow]))
  const threadId = newThreadId()
  const asked = service.ask(threadId, 'Go')
  await until('the tool runs', () => begun)
  await service.stop(threadId)
  const answer = await sameAfterReload(t, service, threadId, await asked)
  t.strictSame(unfinished(answer), [])
  const context = await nextMessageWorks(t, service, threadId)
  t.strictSame(context.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'user'])
  t.equal(context[3]?.tool_call_id, context[2]?.tool_calls?.[0]?.id)
  t.match(context[3]?.content, /stopped/)
})

for (let offset = 0; offset <= 5; offset++) {
  t.test(`T11: a history cut to ${offset + 1} messages never parts a call from its result`, async (t) => {
    const { tool, inputs } = recordedTool('echo')
    const service = await startCaseService(t, upstream, agents(oneCall, [tool], { maxHistory: offset + 1 }))
    const threadId = newThreadId()
    for (let turn = 1; turn <= 4; turn++) {
      const reply = await service.ask(threadId, `Question ${turn}`, { agentId: oneCall })
      t.equal(seen(await sameAfterReload(t, service, threadId, reply)).text, 'AFTER-TOOL')
    }
    t.equal(inputs.length, 4)
    const requests = await service.requests()
    t.strictSame(requests.flatMap(({ historyError = [] }) => historyError), [])
    const last = requests.at(-2)?.body.messages ?? []
    t.equal(last[0]?.role, 'system', 'the instructions stay')
    t.match(last.at(-1), { role: 'user', content: 'Question 4' }, 'and so does the last question')
    const entries = last.filter(({ role, content }) => role === 'user' || (role === 'assistant' && content === 'AFTER-TOOL'))
    t.equal(entries.length, offset + 1, 'as many messages as asked for')
    await nextMessageWorks(t, service, threadId)
  })
}

t.test('T18: tools of any name run, under legal unique names for the model and their own for the user', async (t) => {
  const long = 'x'.repeat(80)
  const names = ['calendar.list events', 'calendar_list_events', 'calendar list.events', long, `${long}y`, '日程.一覧', 'plain']
  for (const called of names) {
    const ordered = [called, ...names.filter((name) => name !== called)].map((name) => recordedTool(name, z.looseObject({})))
    const service = await startCaseService(t, upstream, agents(oneCall, ordered.map(({ tool }) => tool)))
    const threadId = newThreadId()
    const reply = await service.ask(threadId, 'Go')
    const answer = await sameAfterReload(t, service, threadId, reply)
    t.match(seen(answer), { text: 'AFTER-TOOL', errors: [] })
    t.strictSame(seen(answer).calls.map(({ name, state }) => ({ name, state })), [{ name: called, state: 'output-available' }], called)
    t.strictSame(ordered.map(({ inputs }) => inputs.length), [1, 0, 0, 0, 0, 0, 0], 'the tool that was called ran')
    const offered = (await service.requests())[0]?.body.tools?.map((tool) => tool.function.name) ?? []
    t.equal(new Set(offered).size, names.length)
    t.strictSame(offered.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name)), [])
    const context = await nextMessageWorks(t, service, threadId)
    t.equal(context.find(({ tool_calls: calls }) => calls !== undefined)?.tool_calls?.[0]?.function.name, offered[0], 'and the model still knows it by the same name')
  }
})
