import t from 'tap'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { noUsage } from '../../../src/events/usage.ts'
import type { Resume, Suspension } from '../../../src/runtime/suspension.ts'
import { delay } from '../../../src/streams/abort.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { compileSchema, toJsonSchema } from '../../../src/tools/schema.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const echo = defineTool({ name: 'echo', title: 'Echo', input: z.object({ text: z.string() }), execute: ({ text }) => `echo ${text}` })
const call = (id: string, text = id) => toolCall(id, 'echo', { text })

t.test('a plain answer is a message of one step', async (t) => {
  const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'hm' }, 'Hel', 'lo']])
  const { events, text } = await run(t, { model })
  t.strictSame(events.map(({ type }) => type), [
    'message-start', 'step-start', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-delta',
    'usage', 'text-end', 'step-end', 'message-end', 'run-completed'
  ])
  t.equal(text, 'Hello')
  t.match(events[0], { messageId: 'answer-1', runId: 'run-1', threadId: 'thread-1', model: 'test:scripted', continued: false })
  t.match(events.at(-2), { finishReason: 'stop', usage: { input: 10, output: 5 } })
  t.match(model.requests, [{ messages: [{ role: 'user', content: 'hello' }], tools: [], toolChoice: 'auto' }])
})

t.test('a tool\'s result goes to the user and to the model, whose next step answers', async (t) => {
  const model = scriptedModel([['Let me see.', ...call('c1', 'x')], ['Done.']])
  const { of, text, end } = await run(t, { model, agent: { tools: [echo], instructions: 'Be brief.' } })
  t.strictSame(of('tool-call-start'), [{ type: 'tool-call-start', callId: 'c1', toolName: 'echo', title: 'Echo' }])
  t.strictSame(of('tool-output'), [{ type: 'tool-output', callId: 'c1', output: 'echo x' }])
  t.equal(text, 'Let me see.Done.')
  t.match(of('message-end'), [{ usage: { input: 20, output: 10 } }])
  t.match(end, { type: 'run-completed' })
  t.match(model.requests[0], { instructions: 'Be brief.', tools: [{ name: 'echo', parameters: { type: 'object' } }] })
  t.strictSame(model.requests[0]?.messages.length, 3, 'the conversation grows in one list')
  t.match(model.requests[1]?.messages, [
    { role: 'user' },
    { role: 'assistant', text: 'Let me see.', toolCalls: [{ callId: 'c1', toolName: 'echo', arguments: '{"text":"x"}' }] },
    { role: 'tool', callId: 'c1', content: 'echo x' }
  ])
})

t.test('a call id that a provider repeats becomes unique, in events and in history', async (t) => {
  const model = scriptedModel([call('call_0', 'a'), call('call_0', 'b'), ['Done.']])
  const history = [{ role: 'assistant', text: '', toolCalls: [{ callId: 'call_0', toolName: 'echo', arguments: '{}' }] }, { role: 'tool', callId: 'call_0', toolName: 'echo', content: 'x' }, { role: 'user', content: 'hi' }] as const
  const { of } = await run(t, { model, agent: { tools: [echo] }, input: { history } })
  const ids = of('tool-output').map(({ callId }) => callId)
  t.equal(new Set(['call_0', ...ids]).size, 3)
  const results = model.requests[2]?.messages.flatMap((message) => message.role === 'tool' ? [message.callId] : [])
  t.strictSame(results, ['call_0', ...ids])
})

t.test('a run that reaches its steps ends with a call without tools', async (t) => {
  const model = scriptedModel([call('c1'), call('c2'), ['That is all I know.']])
  const { of, text } = await run(t, { model, agent: { tools: [echo], maxSteps: 3 } })
  t.equal(of('tool-output').length, 2)
  t.equal(text, 'That is all I know.')
  t.strictSame(model.requests.map(({ tools }) => tools.length), [1, 1, 0])
  t.match(of('message-end'), [{ finishReason: 'stop' }])
})

t.test('a model that calls on at its limit is not obeyed, and the user is told', async (t) => {
  const model = scriptedModel([call('c1'), call('c2')])
  const { of, text, end } = await run(t, { model, agent: { tools: [echo], maxSteps: 2 } })
  t.equal(of('tool-output').length, 1)
  t.match(of('tool-input-invalid'), [{ callId: 'c2', message: /No such tool "echo"\. No tools can be called now/ }])
  t.match(text, /limit of this run \(2 steps, 1 tool calls\)/)
  t.match(of('message-end'), [{ finishReason: 'other' }])
  t.match(end, { type: 'run-completed' })
  t.equal(model.requests.length, 2)

  const talking = scriptedModel([call('c1'), ['So far: x', ...call('c2')]])
  const input = { mode: 'headless', suspendsFor: 'nothing' } as const
  t.equal((await run(t, { model: talking, agent: { tools: [echo], maxSteps: 2 }, input })).text, 'So far: x', 'a program gets what the model said, where it said something')
})

t.test('a run goes on where the model called something, whatever it says why it stopped, and ends where it did not', async (t) => {
  for (const reason of ['stop', 'other', 'length', 'content-filter'] as const) {
    const model = scriptedModel([[...call('c1'), { type: 'finish', reason }], ['Done.']])
    t.equal((await run(t, { model, agent: { tools: [echo] } })).text, 'Done.', reason)
  }
  const model = scriptedModel([['I call nothing.', { type: 'finish', reason: 'tool-calls' }], ['never']])
  const { end, text } = await run(t, { model, agent: { tools: [echo] } })
  t.equal(text, 'I call nothing.')
  t.equal(model.requests.length, 1)
  t.match(end, { type: 'run-completed' })
})

t.test('a chat may ask its model a hundred times', async (t) => {
  const model = scriptedModel(Array.from({ length: 120 }, (_, n) => call(`c${n}`)))
  await run(t, { model, agent: { tools: [echo] } })
  t.equal(model.requests.length, 100)
  t.strictSame(model.requests.at(-1)?.tools, [])
})

t.test('a batch never goes beyond the limit of tool calls; what is left out is answered with the reason', async (t) => {
  const model = scriptedModel([[...call('c1'), ...call('c2')], [...call('c3'), ...call('c4'), ...call('c5')], ['Done.']])
  const { of, text } = await run(t, { model, agent: { tools: [echo], maxToolCalls: 3 } })
  t.strictSame(of('tool-output').map(({ callId }) => callId), ['c1', 'c2', 'c3'])
  t.match(of('tool-error'), [{ callId: 'c4', message: /limit of tool calls/ }, { callId: 'c5' }])
  t.match(model.requests[2]?.messages.slice(-3), [{ callId: 'c3', content: 'echo c3' }, { callId: 'c4', content: /limit/ }, { callId: 'c5' }])
  t.strictSame(model.requests.map(({ tools }) => tools.length), [1, 1, 0])
  t.equal(text, 'Done.')
})

t.test('a headless run is a bounded errand unless its agent says otherwise', async (t) => {
  const endless = () => scriptedModel(Array.from({ length: 12 }, (_, n) => call(`c${n}`)))
  const headless = { mode: 'headless', suspendsFor: 'nothing' } as const
  const bounded = endless()
  await run(t, { model: bounded, agent: { tools: [echo] }, input: headless })
  t.equal(bounded.requests.length, 6)
  const unbounded = endless()
  await run(t, { model: unbounded, agent: { tools: [echo], maxToolCalls: null, maxSteps: 9 }, input: headless })
  t.equal(unbounded.requests.length, 9)
  const withoutTools = scriptedModel([['Hi']])
  await run(t, { model: withoutTools, agent: { tools: [echo] }, input: { ...headless, useTools: false } })
  t.strictSame(withoutTools.requests[0]?.tools, [])
})

t.test('a forced choice of tools holds for the first step only', async (t) => {
  for (const toolChoice of ['required', { tool: 'echo' }] as const) {
    const model = scriptedModel([call('c1'), ['Done.']])
    await run(t, { model, agent: { tools: [echo], toolChoice } })
    t.strictSame(model.requests.map((request) => request.toolChoice), [toolChoice, 'auto'])
  }
})

t.test('a required tool is asked for until it was called, and an answer before that is never seen', async (t) => {
  const model = scriptedModel([['Too early.'], call('c1'), ['Now.']])
  const { text, end } = await run(t, { model, agent: { tools: [echo], requiredTools: ['echo', 'no-such-tool'] } })
  t.equal(text, 'Now.')
  t.match(end, { type: 'run-completed' })
  t.match(model.requests[1]?.messages.slice(1, 3), [{ role: 'assistant', text: 'Too early.' }, { role: 'user', content: /not called "echo" yet/ }])
})

t.test('text that leads to a call of a required tool is shown, in front of the call', async (t) => {
  const model = scriptedModel([['I look it up.', ...call('c1')], ['Now.']])
  const { text, events } = await run(t, { model, agent: { tools: [echo], requiredTools: ['echo'] } })
  t.equal(text, 'I look it up.Now.')
  t.ok(events.findIndex(({ type }) => type === 'text-end') < events.findIndex(({ type }) => type === 'tool-call-start'))
})

t.test('thinking is shown while an answer is held, and a model that ignores two reminders has its third answer shown', async (t) => {
  const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'hm' }, 'One.', { type: 'reasoning-delta', delta: 'held' }], [], ['Three.']])
  const { text, of } = await run(t, { model, agent: { tools: [echo], requiredTools: ['echo'] } })
  t.equal(text, 'Three.')
  t.equal(of('reasoning-delta').map(({ delta }) => delta).join(), 'hm')
  t.equal(model.requests.length, 3)
  t.equal(model.requests[2]?.messages.filter(({ role }) => role === 'assistant').length, 1, 'an empty answer is no message')
})

t.test('required tools may depend on the conversation', async (t) => {
  const requiredToolsForRun = (messages: readonly { content?: string }[]) => messages.some(({ content }) => content === 'price?') ? ['echo'] : []
  const asked = scriptedModel([['Early.'], call('c1'), ['Late.']])
  t.equal((await run(t, { model: asked, agent: { tools: [echo], requiredToolsForRun: requiredToolsForRun as never }, input: { history: [{ role: 'user', content: 'price?' }] } })).text, 'Late.') // reads one field of messages
  const other = scriptedModel([['At once.']])
  t.equal((await run(t, { model: other, agent: { tools: [echo], requiredToolsForRun: requiredToolsForRun as never } })).text, 'At once.')
})

const shape = z.object({ total: z.number() })
const response = { schema: toJsonSchema(shape), check: compileSchema(shape) }

t.test('an answer of a shape is asked for with the shape, and repaired when it does not fit', async (t) => {
  const fits = scriptedModel([['{"total": 1}']])
  t.match((await run(t, { model: fits, input: { response } })).end, { type: 'run-completed' })
  t.match(fits.requests, [{ responseSchema: { type: 'object' } }])
  const fenced = scriptedModel([['```json\n{"total": 1}\n```']])
  await run(t, { model: fenced, input: { response } })
  t.equal(fenced.requests.length, 1)

  const repaired = scriptedModel([['about one'], ['{"total": "1"}'], ['{"total": 1}']])
  const { of } = await run(t, { model: repaired, input: { response } })
  t.match(of('step-end'), [{ step: 1 }, { step: 2 }, { step: 3 }])
  t.match(repaired.requests[2]?.messages.at(-1), { role: 'user', content: /fits the requested schema/ })

  const stubborn = scriptedModel([['no']])
  t.match((await run(t, { model: stubborn, input: { response } })).end, { type: 'run-failed', code: 'provider_unavailable' })
  t.equal(stubborn.requests.length, 3)
})

t.test('with tools, the shape comes in a call of its own at the end', async (t) => {
  const model = scriptedModel([call('c1'), ['The total is one.'], ['{"total": 1}']])
  const { end } = await run(t, { model, agent: { tools: [echo] }, input: { response } })
  t.match(end, { type: 'run-completed' })
  t.strictSame(model.requests.map(({ responseSchema, tools }) => [responseSchema === undefined, tools.length]), [[true, 1], [true, 1], [false, 0]])
})

/** A run that waited for the client's answer to one call, and has it. */
const resumed: Resume = {
  checkpoint: {
    root: {
      agentId: 'tester', path: [], messages: [], step: 1, toolCalls: 0, reminders: 0, calledTools: [], text: '', reasoning: [],
      calls: [{ callId: 'c0', modelName: 'ask', toolName: 'ask', arguments: '{}', input: {} }], results: [], waiting: [{ kind: 'client', callId: 'c0' }]
    },
    usage: noUsage,
    memberCalls: 0,
    metadata: {}
  },
  verdicts: new Map(),
  outputs: new Map([['c0', { callId: 'c0', output: 1 }]])
}

t.test('an empty answer is a failure, but not after a tool has run, in a continued message, or at the output limit', async (t) => {
  t.match((await run(t, { model: scriptedModel([[]]) })).end, { type: 'run-failed', code: 'provider_unavailable', retryable: true })
  t.match((await run(t, { model: scriptedModel([call('c1'), []]), agent: { tools: [echo] } })).end, { type: 'run-completed' })
  t.match((await run(t, { model: scriptedModel([[]]), input: { resume: resumed } })).end, { type: 'run-completed' })
  t.match((await run(t, { model: scriptedModel([[{ type: 'finish', reason: 'length' }]]) })).of('message-end'), [{ finishReason: 'length' }])
})

t.test('a filtered answer is marked as such, empty or not', async (t) => {
  for (const said of [['Part'], []]) {
    const { of, end } = await run(t, { model: scriptedModel([[...said, { type: 'finish', reason: 'content-filter' }]]) })
    t.match(of('data'), [{ name: 'error', data: { code: 'content_filtered' } }])
    t.match(of('message-end'), [{ finishReason: 'content-filter' }])
    t.match(end, { type: 'run-completed' })
  }
})

t.test('a continued message shows the answers it got before anything else', async (t) => {
  const { events } = await run(t, { model: scriptedModel([['Thanks.']]), input: { resume: resumed } })
  t.match(events.slice(0, 3), [{ type: 'message-start', continued: true }, { type: 'tool-output', callId: 'c0' }, { type: 'step-start' }])
})

t.test('the clock of a run stands still while it waits', async (t) => {
  let kept: Suspension | undefined
  const agent = { tools: [defineTool({ name: 'ask' })], timeouts: { totalMs: 150 } }
  await run(t, { model: scriptedModel([toolCall('c1', 'ask')]), agent, input: { onSuspend: (suspension) => { kept = suspension } } })
  await delay(160)
  const { checkpoint } = JSON.parse(JSON.stringify(kept))
  const resume = { checkpoint, verdicts: new Map(), outputs: new Map([['c1', { callId: 'c1', output: 1 }]]) }
  t.match(await run(t, { model: scriptedModel([[{ waitMs: 1 }, 'Thanks.']]), agent, input: { resume } }), { text: 'Thanks.', end: { type: 'run-completed' } })
})

t.test('a run that goes on has worked as long as before, and its conditions know', async (t) => {
  const durations: number[] = []
  const agent = { tools: [defineTool({ name: 'ask' })], stopWhen: ({ durationMs }: { durationMs: number }) => { durations.push(durationMs); return false } }
  let kept: Suspension | undefined
  const [first] = (await run(t, { model: scriptedModel([[{ waitMs: 30 }, ...toolCall('c1', 'ask')]]), agent, input: { onSuspend: (suspension) => { kept = suspension } } })).of('run-suspended')
  t.ok((first?.processingMs ?? 0) >= 30)
  const { checkpoint } = JSON.parse(JSON.stringify(kept))
  checkpoint.root.workedMs += 100_000
  const resume = { checkpoint, verdicts: new Map(), outputs: new Map([['c1', { callId: 'c1', output: 1 }]]) }
  const [end] = (await run(t, { model: scriptedModel([['Thanks.']]), agent, input: { resume } })).of('run-completed')
  t.ok((end?.processingMs ?? 0) >= 100_030)
  t.ok(durations.length === 1 && durations.every((durationMs) => durationMs >= 100_030), durations.join())
})

t.test('a provider of tools is asked once per run, with who asks; one that fails costs its own tools only', async (t) => {
  const asked: unknown[] = []
  const provider = (context: unknown) => { asked.push(context); return [echo] }
  const broken = async () => { throw new Error('key sk-secret is wrong') }
  const odd = () => defineTool({ name: 'odd', input: { type: 'no-such-type' } })
  const model = scriptedModel([call('c1'), ['Done.']])
  const { of, log } = await run(t, { model, agent: { tools: [provider, broken, odd, defineTool({ name: 'echo' })] } })
  t.match(asked, [{ principal: { userId: 'alice' }, threadId: 'thread-1', runId: 'run-1', metadata: { shop: 7 } }])
  t.equal(asked.length, 1)
  t.strictSame(of('tool-output').map(({ output }) => output), ['echo c1'], 'the first of a name is the one')
  t.match(of('data'), [{ name: 'unavailable', transient: true, data: { stage: 'tools' } }, { name: 'unavailable', data: { detail: /"odd"/ } }])
  t.notMatch(JSON.stringify(of('data')), 'sk-secret')
  t.ok(log.some(({ message }) => /already offered/.test(message)))
})

t.test('a model error fails the run in the provider\'s stead, after what was said', async (t) => {
  const { events, end, of } = await run(t, { model: scriptedModel([['Half', { throw: new AppError('rate_limited', 'Slow down.') }]]) })
  t.match(end, { type: 'run-failed', code: 'rate_limited', message: 'Slow down.', ref: /^[0-9a-f]{8}$/ })
  t.match(of('usage'), [{ estimated: true, buckets: { output: 1 } }])
  t.match(events.slice(-2), [{ type: 'text-end' }, { type: 'run-failed' }])
})

t.test('a bug is a failure without its words, which are in the log', async (t) => {
  const { end, log } = await run(t, { model: scriptedModel([['Half', { throw: new TypeError('secret detail') }]]) })
  t.match(end, { type: 'run-failed', code: 'unknown', message: /went wrong/ })
  t.match(log.find(({ level }) => level === 'error'), { fields: { err: { message: 'secret detail' } } })
})

t.test('a model that never stops is cut, and what it said is kept', async (t) => {
  const model = scriptedModel([['x'.repeat(700_000), 'y'.repeat(400_000), 'never asked for']])
  const { text, end, of } = await run(t, { model })
  t.match(end, { type: 'run-failed', code: 'provider_unavailable', message: /did not stop writing/ })
  t.equal(text.length, 1_100_000)
  t.equal(of('text-end').length, 1)
  t.equal(model.closed(), 1)
})
