import t from 'tap'
import { z } from 'zod'
import { hasToolCall } from '../../../src/agents/stop-when.ts'
import type { RunOutcome, UsageReport } from '../../../src/agents/hooks.ts'
import { AppError } from '../../../src/errors.ts'
import { noUsage } from '../../../src/events/usage.ts'
import type { Suspension } from '../../../src/runtime/suspension.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const echo = defineTool({ name: 'echo', input: z.object({ text: z.string() }), execute: ({ text }) => `echo ${text}` })
const book = defineTool({ name: 'book', execute: () => 'word '.repeat(3_000) })
const took = (input: number, output = 10): ScriptStep => ({ type: 'usage', usage: { ...noUsage, input, output }, estimated: false })
const call = (id: string, text = id) => toolCall(id, 'echo', { text })
const ask = (id: string) => toolCall(id, 'researcher', { task: 'Look.' })
const root = { key: 'root', model: 'test:root', agents: ['researcher'] }
const researcher = { key: 'researcher', name: 'Researcher', model: 'test:researcher', tools: [echo, book] }

function crewOf (scripts: { root: ScriptStep[][], researcher: ScriptStep[][] }) {
  const models = { 'test:root': scriptedModel(scripts.root, { id: 'test:root' }), 'test:researcher': scriptedModel(scripts.researcher, { id: 'test:researcher' }) }
  return { models, model: models['test:root'], member: models['test:researcher'] }
}

t.test('where the budget has no room for another round, calls are answered so and the model answers without tools', async (t) => {
  const model = scriptedModel([[...call('c1'), took(300)], [...call('c2'), took(330)], ['What I have.', took(350)]])
  const { of, text, end } = await run(t, { model, agent: { tools: [echo], budget: { tokens: 1_200 } } })
  t.match(of('tool-output'), [{ callId: 'c1' }])
  t.match(of('tool-error'), [{ callId: 'c2', code: 'quota_exceeded' }])
  t.match(model.requests[2], { tools: { length: 0 }, messages: { length: 5, 4: { role: 'tool', callId: 'c2', content: /budget of this run is used up/ } } })
  t.equal(text, 'What I have.')
  t.match(end, { type: 'run-completed' })
})

t.test('where it has none for an answer either, the run says so and makes no call', async (t) => {
  const model = scriptedModel([[...toolCall('b1', 'book'), took(100)], ['Never.']])
  const { text, of, end } = await run(t, { model, agent: { tools: [book], budget: { tokens: 1_000 } } })
  t.equal(model.requests.length, 1)
  t.equal(text, 'I stopped because the budget of this run is used up.')
  t.strictSame(of('step-start').map(({ step }) => step), [1, 2], 'in a step of its own')
  t.match(end, { type: 'run-completed' })
  const first = scriptedModel([['Never.']])
  t.match((await run(t, { model: first, agent: { budget: { tokens: 3 } } })).text, /budget/)
  t.equal(first.requests.length, 0)
})

t.test('the budget of the root binds a member before the call that would go beyond it', async (t) => {
  const { models, model, member } = crewOf({ root: [[...ask('d1'), took(100)], ['From what there is.', took(200)]], researcher: [[...toolCall('b1', 'book'), took(100)], ['Never.']] })
  const { text, of } = await run(t, { model, models, agent: { ...root, budget: { tokens: 3_000 } }, crew: [researcher] })
  t.equal(member.requests.length, 1)
  t.match(of('tool-output').at(-1), { callId: 'd1', output: /No report was finished/ })
  t.equal(text, 'From what there is.')
})

t.test('a member\'s own budget binds the member alone', async (t) => {
  const { models, model, member } = crewOf({ root: [[...ask('d1'), took(2_000)], ['Done.', took(2_000)]], researcher: [[...call('c1'), took(300)], ['Report.', took(320)]] })
  const { of, text } = await run(t, { model, models, agent: root, crew: [{ ...researcher, budget: { tokens: 700 } }] })
  t.match(of('tool-error'), [{ callId: 'c1', code: 'quota_exceeded' }])
  t.strictSame(member.requests.map(({ tools }) => tools.length), [2, 0])
  t.equal(text, 'Done.')
})

t.test('calls cost what the model asked for them does, and the run all of them', async (t) => {
  const reports: UsageReport[] = []
  const outcomes: RunOutcome[] = []
  const model = { ...scriptedModel([[...call('c1'), took(100)], ['Hi', took(200)]]), prices: { input: 1, output: 10 } }
  const { of } = await run(t, { model, agent: { tools: [echo], onUsage: (report) => reports.push(report), onFinish: (outcome) => outcomes.push(outcome) } })
  t.strictSame(of('usage').map(({ costUsd }) => costUsd), [0.0002, 0.0003])
  t.match(of('message-end'), [{ costUsd: 0.0005, usage: { input: 300, output: 20 } }])
  t.match(reports, [{ costUsd: 0.0002 }, { costUsd: 0.0003 }])
  t.match(outcomes, [{ state: 'completed', finishReason: 'stop', costUsd: 0.0005, usage: { input: 300 } }])
  t.equal(outcomes.length, 1)
})

t.test('what was spent before a run waited counts when it goes on', async (t) => {
  const gated = defineTool({ name: 'gated', needsApproval: true, execute: () => 'ok' })
  const agent = { tools: [gated], budget: { tokens: 2_000 } }
  let kept: Suspension | undefined
  await run(t, { model: scriptedModel([[...toolCall('g1', 'gated'), took(400)]]), agent, input: { onSuspend: (suspension) => { kept = suspension } } })
  const { checkpoint, approvals } = JSON.parse(JSON.stringify(kept))
  t.match(checkpoint.usage, { input: 400 })
  const model = scriptedModel([['Never.']])
  const verdicts = new Map([[approvals[0].id, { approved: true }]])
  const spent = { ...checkpoint, usage: { ...checkpoint.usage, input: 1_990 } }
  const { text } = await run(t, { model, agent, input: { resume: { checkpoint: spent, verdicts, outputs: new Map() } } })
  t.equal(model.requests.length, 0)
  t.match(text, /budget/)
})

t.test('a condition ends a run after a step that ran tools', async (t) => {
  const model = scriptedModel([call('c1'), ['Never.']])
  const { of, end } = await run(t, { model, agent: { tools: [echo], stopWhen: hasToolCall('echo') } })
  t.equal(model.requests.length, 1)
  t.match(of('tool-output'), [{ callId: 'c1' }])
  t.match(of('message-end'), [{ finishReason: 'stop' }])
  t.equal(of('step-start').length, 2, 'clients that send results by themselves must not send these')
  t.match(end, { type: 'run-completed' })
  const talking = scriptedModel([['So far: x', ...call('c1')], ['Never.']])
  const headless = await run(t, { model: talking, agent: { tools: [echo], stopWhen: hasToolCall('echo') }, input: { mode: 'headless', suspendsFor: 'nothing' } })
  t.match(headless.of('step-start'), { length: 1 }, 'a program gets what was said in the last step')
})

t.test('a run that goes round in circles is asked for its answer, without tools', async (t) => {
  const model = scriptedModel([call('c1', 'same'), call('c2', 'same'), call('c3', 'same'), ['Enough.']])
  const { text } = await run(t, { model, agent: { tools: [echo] } })
  t.strictSame(model.requests.map(({ tools }) => tools.length), [1, 1, 1, 0])
  t.match(model.requests[3]?.messages.at(-1), { role: 'user', content: /same call 3 times/ })
  t.equal(text, 'Enough.')
  const failing = defineTool({ name: 'echo', input: z.object({ text: z.string() }), execute: () => { throw new Error('a bug') } })
  const other = scriptedModel([call('c1'), call('c2'), call('c3'), ['It is broken.']])
  t.equal((await run(t, { model: other, agent: { tools: [failing] } })).text, 'It is broken.')
  t.match(other.requests[3], { tools: { length: 0 } })
})

t.test('another model answers where the first cannot, and is the one that is told of', async (t) => {
  const model = scriptedModel([[{ throw: new AppError('configuration_error', 'No key.') }]])
  const second = scriptedModel([['From the second.']], { id: 'test:second' })
  const { text, of } = await run(t, { model, models: { 'test:second': second }, agent: { fallbackModels: ['test:second'] } })
  t.equal(text, 'From the second.')
  t.match(of('usage'), [{ model: 'test:second' }])
})

t.test('hooks of an agent take part in each of its runs', async (t) => {
  const model = scriptedModel([call('c1', 'x'), ['Done.']])
  const choices: number[] = []
  const { of } = await run(t, {
    model,
    agent: {
      tools: (_context, tools) => [...tools, echo],
      instructions: 'Help.',
      systemPrompt: ({ principal }, instructions) => `${instructions} For ${principal.userId}.`,
      toolChoice: ({ step }, choice) => { choices.push(step); return step === 1 ? 'required' : choice },
      beforeTool: (_call, _context, input) => ({ ...input as object, text: 'changed' }),
      afterTool: (_call, _context, output) => `${String(output)}!`,
      beforeModel: ({ step }, _context, request) => ({ ...request, settings: { seed: step } })
    }
  })
  t.match(of('tool-output'), [{ output: 'echo changed!' }])
  t.match(model.requests, [{ instructions: /^Help\. For .+\.$/, toolChoice: 'required', settings: { seed: 1 } }, { toolChoice: 'auto', settings: { seed: 2 } }])
  t.strictSame(choices, [1, 2])
})

t.test('the end of a run is told once, however it ends, and never of a member', async (t) => {
  const ended: string[] = []
  const onFinish = ({ state, errorCode }: RunOutcome) => { ended.push([state, errorCode].join(' ').trim()) }
  const failing = scriptedModel([[{ throw: new AppError('content_filtered', 'No.') }]])
  await run(t, { model: failing, agent: { onFinish } })
  const { models, model } = crewOf({ root: [ask('d1'), ['Done.']], researcher: [['Report.']] })
  await run(t, { model, models, agent: { ...root, onFinish }, crew: [{ ...researcher, onFinish }] })
  t.strictSame(ended, ['failed content_filtered', 'completed'])
})

t.test('requests are shortened to the window, and the conversation is not', async (t) => {
  const long = 'They talked about this and that. '.repeat(20)
  const history = Array.from({ length: 30 }, (_, n) => n % 2 === 0 ? { role: 'user', content: `Question ${n}: ${long}` } as const : { role: 'assistant', text: `Answer ${n}: ${long}`, toolCalls: [] } as const)
  const model = { ...scriptedModel([['A summary.'], ['Here.']]), contextWindow: 3_000 }
  const { text } = await run(t, { model, agent: { compaction: 'auto' }, input: { history: [...history, { role: 'user', content: 'And now?' }] } })
  const last = model.requests.at(-1)!
  t.ok(model.requests.length > 1, 'old turns were summed up first')
  t.ok(last.messages.length < 31)
  t.match(last.messages[0], history[0])
  t.strictSame(last.messages.at(-1), { role: 'user', content: 'And now?' })
  t.equal(text, 'Here.')
})
