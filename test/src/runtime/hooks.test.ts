import t from 'tap'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import type { HookContext, RunOutcome, UsageReport } from '../../../src/agents/hooks.ts'
import { AppError } from '../../../src/errors.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { chooseTools, toolChoiceFor } from '../../../src/runtime/choose-tools.ts'
import { finishHook } from '../../../src/runtime/finish-hook.ts'
import { instructionsFor } from '../../../src/runtime/instructions.ts'
import { logToolCall } from '../../../src/runtime/log-tool-call.ts'
import { createRunState } from '../../../src/runtime/run-state.ts'
import { stepHooks } from '../../../src/runtime/step-hooks.ts'
import { withToolHooks } from '../../../src/runtime/tool-hooks.ts'
import { assembleTools } from '../../../src/runtime/toolset.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { alice } from '../../contracts/turns.ts'
import { until } from '../../helpers/app.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { scriptedModel, toolCall } from '../../helpers/scripted-model.ts'
import { agentOf } from '../../helpers/agents.ts'
import { run } from './running.ts'
import { step } from './stepping.ts'

const context: HookContext = { principal: alice, threadId: 'thread-1', runId: 'run-1', agentPath: [], metadata: { shop: 7 }, signal: new AbortController().signal }
const echo = defineTool({ name: 'echo', input: z.object({ text: z.string() }), execute: ({ text }) => `echo ${text}` })
const other = defineTool({ name: 'an.other' })
const agentWith = (definition: Partial<AgentDefinition>) => agentOf(definition, 'test:scripted')

t.test('the system prompt is the agent\'s instructions, or what its hook makes of them', async (t) => {
  t.equal(await instructionsFor(agentWith({ instructions: 'Be brief.' }), context), 'Be brief.')
  const agent = agentWith({ instructions: 'Be brief.', systemPrompt: async ({ principal, metadata }, ours) => `${ours} For ${principal.userId} of shop ${String(metadata['shop'])}.` })
  t.equal(await instructionsFor(agent, context), `Be brief. For ${alice.userId} of shop 7.`)
})

t.test('the tools of a run are all there are, or those that the hook chooses', async (t) => {
  const options = { context, log: recordingLog() }
  t.strictSame(await chooseTools([echo, other], agentWith({}), options), { tools: [echo, other], unavailable: [] })
  const agent = agentWith({ tools: ({ principal }, tools) => principal === alice ? tools.filter(({ name }) => name === 'echo') : [] })
  t.strictSame(await chooseTools([echo, other], agent, options), { tools: [echo], unavailable: [] })
})

t.test('a choice of tools that fails leaves none, and says so', async (t) => {
  const log = recordingLog()
  t.match(await chooseTools([echo], agentWith({ tools: () => { throw new Error('a bug') } }), { context, log }), { tools: [], unavailable: [{ stage: 'tools' }] })
  t.match(log.lines, [{ level: 'error', fields: { err: { message: 'a bug' } } }])
})

t.test('required tools are given to the hook that adds to them', async (t) => {
  const seen: unknown[] = []
  const model = scriptedModel([['No.'], toolCall('c1', 'echo', { text: 'x' }), ['Yes.']])
  const { of } = await run(t, { model, agent: { tools: [echo], requiredTools: ['gone'], requiredToolsForRun: (messages, names) => { seen.push(messages.length, names); return ['echo'] } } })
  t.strictSame(seen, [1, ['gone']])
  t.equal(of('tool-output').length, 1)
})

t.test('tools may be chosen step by step, in the names the model knows', async (t) => {
  const { toolset } = await assembleTools({ tools: [echo, other], crew: () => ({ tools: [], roster: [] }) }, context, recordingLog())
  const facts = (step: number) => ({ step, messages: [], calledTools: new Set<string>() })
  const fixed = agentWith({ toolChoice: { tool: 'an.other' } })
  t.strictSame([1, 2].map((n) => toolChoiceFor(fixed, facts(n), toolset)), [{ tool: 'an_other' }, 'auto'], 'a forced choice is of the first step')
  const byStep = agentWith({ toolChoice: ({ step }, ours) => step === 1 ? ours : step === 2 ? { tool: 'echo' } : step === 3 ? { tool: 'gone' } : 'none' })
  t.strictSame([1, 2, 3, 4].map((n) => toolChoiceFor(byStep, facts(n), toolset)), ['auto', { tool: 'echo' }, 'auto', 'none'])
})

t.test('hooks around a tool see the call and change what goes in and what comes out', async (t) => {
  const seen: unknown[] = []
  const hooked = (definition: Partial<AgentDefinition>) => withToolHooks(echo, agentWith(definition))
  const tool = hooked({
    beforeTool: async (call, { runId }, input) => { seen.push(call, runId, input); return { text: 'changed' } },
    afterTool: (call, _context, output) => { seen.push(call); return `${String(output)}!` }
  })
  const { of, log } = await run(t, { model: scriptedModel([toolCall('c1', 'echo', { text: 'x' }), ['Done.']]), agent: { tools: [tool] } })
  t.strictSame(seen, [{ callId: 'c1', toolName: 'echo' }, 'run-1', { text: 'x' }, { callId: 'c1', toolName: 'echo', input: { text: 'changed' } }])
  t.match(of('tool-input-complete'), [{ input: { text: 'x' } }], 'users see what the model asked for')
  t.match(of('tool-output'), [{ output: 'echo changed!' }])
  t.ok(log.length > 0)
  t.equal(hooked({}), echo)
  t.equal(withToolHooks(other, agentWith({ beforeTool: () => ({}) })), other, 'what the client runs is the client\'s')
})

t.test('what a hook around a tool throws is the failure of the call', async (t) => {
  for (const [agent, failure] of [
    [{ beforeTool: () => { throw new AppError('permission_denied', 'Not on Sundays.') } }, { code: 'permission_denied', message: 'Not on Sundays.' }],
    [{ afterTool: async () => { throw new Error('a secret') } }, { code: 'tool_failed', message: 'The tool "echo" failed.' }]
  ] as const) {
    const { of, end } = await run(t, { model: scriptedModel([toolCall('c1', 'echo', { text: 'x' }), ['Done.']]), agent: { tools: [withToolHooks(echo, agentWith(agent))] } })
    t.match(of('tool-error'), [failure])
    t.match(end, { type: 'run-completed' })
  }
})

t.test('a hook may change the request a model is sent, and nothing but that', async (t) => {
  const model = scriptedModel([['Hi']])
  const state = createRunState([])
  state.step = 2
  const seen: unknown[] = []
  const agent = agentWith({ beforeModel: async (call, { threadId }, request) => { seen.push(call, threadId); return { ...request, messages: [...request.messages, { role: 'user', content: 'And be kind.' }] } } })
  await step({ model, state, ...stepHooks(agent, context, { state, log: recordingLog() }) })
  t.match(model.requests, [{ instructions: 'Help.', messages: [{ content: 'hello' }, { content: 'And be kind.' }] }])
  t.strictSame(seen, [{ model: 'test:scripted', step: 2 }, 'thread-1'])
  t.strictSame(state.messages, [])
})

t.test('a hook that fails before a model call breaks the step, and one that never ends is left by a stop', async (t) => {
  const model = scriptedModel([['Hi']])
  const failing = await step({ model, beforeModel: () => { throw new Error('a bug') } })
  t.match(failing.error, { message: 'a bug' })
  const controller = new AbortController()
  setTimeout(() => { controller.abort(new Error('stopped')) }, 20)
  const hanging = await step({ model, signal: controller.signal, beforeModel: () => new Promise(() => {}) })
  t.match(hanging.error, { message: 'stopped' })
  t.strictSame(hanging.of('usage'), [], 'no model was asked')
  t.strictSame(model.requests, [])
})

t.test('usage is told call by call, whatever becomes of the telling', async (t) => {
  const reports: UsageReport[] = []
  const agent = agentWith({ onUsage: async (report, { runId }) => { reports.push(report); throw new Error(`a bug in ${runId}`) } })
  const log = recordingLog()
  const state = createRunState([])
  const { outcome } = await step({ model: { ...scriptedModel([['Hi']]), prices: { input: 1, output: 10 } }, state, ...stepHooks(agent, context, { state, log }) })
  t.equal(outcome?.text, 'Hi')
  t.strictSame(reports, [{ model: 'test:scripted', usage: { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, costUsd: 0.00006, estimated: false }])
  await until('the failure is logged', () => log.lines.length > 0)
  t.match(log.lines, [{ level: 'error', fields: { hook: 'onUsage', err: { message: 'a bug in run-1' } } }])
})

t.test('the end of a run is told once, with what it took', async (t) => {
  const outcomes: RunOutcome[] = []
  const tell = finishHook(agentWith({ onFinish: (outcome) => outcomes.push(outcome) }), context, recordingLog())
  const failure = { code: 'provider_timeout', message: 'x', retryable: true, ref: 'r' } as const
  tell({ end: { type: 'run-failed', ...failure }, finishReason: undefined, usage: { ...noUsage, input: 3 }, costUsd: undefined })
  tell({ end: { type: 'run-completed' }, finishReason: 'stop', usage: noUsage, costUsd: 0 })
  t.strictSame(outcomes, [{ state: 'failed', usage: { ...noUsage, input: 3 }, errorCode: 'provider_timeout' }])
  finishHook(agentWith({ onFinish: (outcome) => outcomes.push(outcome) }), context, recordingLog())({ end: { type: 'run-completed' }, finishReason: 'stop', usage: noUsage, costUsd: 0 })
  t.strictSame(outcomes[1], { state: 'completed', finishReason: 'stop', usage: noUsage, costUsd: 0 })
})

t.test('a hook that fails when it is told of the end is logged, and no hook is no matter', async (t) => {
  const log = recordingLog()
  const finished = { end: { type: 'run-completed' }, finishReason: 'stop', usage: noUsage, costUsd: 0 } as const
  finishHook(agentWith({}), context, log)(finished)
  finishHook(agentWith({ onFinish: () => { throw new Error('a bug') } }), context, log)(finished)
  t.match(log.lines, [{ level: 'error', fields: { hook: 'onFinish' } }])
})

t.test('a call of a tool is logged by name, and at level debug with its arguments, without secrets', async (t) => {
  const log = recordingLog()
  logToolCall(log, { toolName: 'echo', callId: 'c1', input: { text: 'x', password: 'hunter2' } })
  const written = log.lines.map(({ level, fields }) => [level, JSON.parse(JSON.stringify(fields))])
  t.strictSame(written, [['info', { tool: 'echo', callId: 'c1' }], ['debug', { tool: 'echo', callId: 'c1', arguments: { text: 'x', password: '[redacted]' } }]])
})
