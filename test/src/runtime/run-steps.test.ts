import t, { type Test } from 'tap'
import { z } from 'zod'
import { stepsAttributes, type StepsAgentDefinition } from '../../../src/agents/steps/define-steps-agent.ts'
import { askAgent, askModel, callTool } from '../../../src/agents/steps/ask.ts'
import { concurrent } from '../../../src/agents/steps/concurrent.ts'
import { loop } from '../../../src/agents/steps/loop.ts'
import { recall, remember } from '../../../src/agents/steps/memory-steps.ts'
import { retry } from '../../../src/agents/steps/retry.ts'
import type { Step, StepContext, StepOutput } from '../../../src/agents/steps/step.ts'
import { createPermissions } from '../../../src/auth/permissions.ts'
import { AppError, RunStopped } from '../../../src/errors.ts'
import { checkOrder } from '../../../src/events/order.ts'
import type { RunEventBody, RunEventOf, RunEventType } from '../../../src/events/run-event.ts'
import { createTurnMemory, type TurnMemory } from '../../../src/memories/turn-memory.ts'
import { volatile } from '../../../src/memories/volatile.ts'
import { createOpenEnds } from '../../../src/runtime/open-ends.ts'
import { rootFrame } from '../../../src/runtime/frame.ts'
import type { RunInput } from '../../../src/runtime/run-input.ts'
import { runSteps, type StepsEnd, type StepsRun } from '../../../src/runtime/run-steps.ts'
import { toJsonSchema, compileSchema } from '../../../src/tools/schema.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { delay } from '../../../src/streams/abort.ts'
import { said, thread } from '../../contracts/memory.ts'
import { alice } from '../../contracts/turns.ts'
import { agentOf, registryWith } from '../../helpers/agents.ts'
import { recordingLog, type LoggedLine } from '../../helpers/memory-turns.ts'
import { scriptedModel, toolCall, type ScriptedModel } from '../../helpers/scripted-model.ts'

interface Notes { readonly notes: readonly string[] }

const usage = { input: 10, output: 5, reasoning: 0, cachedRead: 0, cacheWrite: 0 }
const note = (state: Notes, text: unknown): Notes => ({ notes: [...state.notes, String(text)] })

t.test('each step of the pipeline is a step of the run, with its text in blocks of its own', async (t) => {
  const ran = await run(t, [
    async function * (state) {
      yield 'One'
      yield ' two'
      yield { type: 'progress', message: 'half', fraction: 0.5 }
      yield ' three'
      yield { type: 'file', mediaType: 'text/csv', fileId: 'file-1' }
      yield 'after'
      yield { type: 'state', state: note(state, 'x') }
    },
    async function * ({ notes }) { yield `notes: ${notes.join()}` }
  ])
  t.strictSame(ran.body, [
    { type: 'step-start', step: 1 },
    { type: 'text-start', blockId: 'b1' },
    { type: 'text-delta', blockId: 'b1', delta: 'One' },
    { type: 'text-delta', blockId: 'b1', delta: ' two' },
    { type: 'progress', message: 'half', fraction: 0.5 },
    { type: 'text-delta', blockId: 'b1', delta: ' three' },
    { type: 'text-end', blockId: 'b1' },
    { type: 'file', mediaType: 'text/csv', fileId: 'file-1' },
    { type: 'text-start', blockId: 'b2' },
    { type: 'text-delta', blockId: 'b2', delta: 'after' },
    { type: 'text-end', blockId: 'b2' },
    { type: 'step-end', step: 1 },
    { type: 'step-start', step: 2 },
    { type: 'text-start', blockId: 'b3' },
    { type: 'text-delta', blockId: 'b3', delta: 'notes: x' },
    { type: 'text-end', blockId: 'b3' },
    { type: 'step-end', step: 2 }
  ])
  t.strictSame(ran.end, { kind: 'completed', finishReason: 'stop', capped: false, text: 'One two three\n\nafter\n\nnotes: x' })
})

t.test('steps know who asks, what, and of which run', async (t) => {
  let seen: Partial<StepContext> = {}
  await run(t, [async function * (_state, context) { seen = context }], { input: { history: [{ role: 'user', content: 'first' }, { role: 'assistant', text: 'a', toolCalls: [] }, { role: 'user', content: 'newest' }] } })
  t.match(seen, { principal: alice, threadId: 'thread-1', runId: 'run-1', metadata: { shop: 7 }, question: 'newest', messages: { length: 3 } })
})

t.test('a model that a step asks is heard as it speaks; its reasoning is not, and what it used counts', async (t) => {
  const model = scriptedModel([[{ type: 'reasoning-delta', delta: 'hm' }, 'Rain', ' today.', ...toolCall('c1', 'look')]])
  const ran = await run(t, [askModel({ question: () => ({ instructions: 'Forecast.', messages: 'Weather?', settings: { temperature: 0 } }), into: note }), askModel({ question: ({ notes }) => ({ messages: notes.join() }), show: false })], { model, agent: { modelSettings: { seed: 1 } } })
  t.equal(ran.end?.text, 'Rain today.')
  t.strictSame(ran.types(), ['step-start', 'text-start', 'text-delta', 'text-delta', 'usage', 'text-end', 'step-end', 'step-start', 'usage', 'step-end'])
  t.strictSame(ran.of('step-end').map((event) => event.usage), [usage, usage])
  t.strictSame(ran.usage, { ...usage, input: 20, output: 10 })
  t.match(model.requests, [{ instructions: 'Forecast.', messages: [{ role: 'user', content: 'Weather?' }], tools: [], toolChoice: 'none', settings: { seed: 1, temperature: 0 } }, { messages: [{ content: 'Rain today.' }] }])
})

t.test('without messages of its own a question is the conversation of the thread', async (t) => {
  const model = scriptedModel([['Hi.']])
  await run(t, [askModel({ question: () => ({}) })], { model })
  t.match(model.requests, [{ instructions: '', messages: [{ role: 'user', content: 'hello' }] }])
})

t.test('an answer of a shape is checked, and one that says nothing is none', async (t) => {
  const shape = z.object({ city: z.string() })
  const ask = askModel<Notes>({ question: () => ({ responseFormat: shape }), show: false, into: note })
  const model = scriptedModel([['no JSON'], ['{"city":"Oslo"}']])
  t.equal((await run(t, [retry(ask, { delayMs: 1 }), async function * ({ notes }) { yield notes.join() }], { model })).end?.text, '{"city":"Oslo"}')
  t.match(model.requests[1], { responseSchema: { type: 'object', properties: { city: {} } } })
  t.match((await run(t, [ask], { model: scriptedModel([['x']]) })).failure, { code: 'provider_unavailable', message: /requested shape/ })
  t.match((await run(t, [ask], { model: scriptedModel([[]]) })).failure, { code: 'provider_unavailable', message: /empty answer/ })
  t.match((await run(t, [ask], { model: scriptedModel([[{ type: 'finish', reason: 'content-filter' }]]) })).failure, { code: 'content_filtered' })
})

t.test('a tool that a step calls gets checked input and shows its progress at once; the call is logged and not shown', async (t) => {
  let release = () => {}
  const opened = new Promise<void>((resolve) => { release = resolve })
  const tool = defineTool({
    name: 'double',
    input: z.object({ n: z.number() }),
    execute: async ({ n }, context) => {
      context.report('half way', 0.5)
      await opened
      return { doubled: n * 2, thread: context.threadId }
    }
  })
  const ran = await run(t, [callTool(tool, { input: () => ({ n: 4 }), into: (state, output) => note(state, JSON.stringify(output)) }), async function * ({ notes }) { yield notes.join() }], { onEvent: ({ type }) => { if (type === 'progress') release() } })
  t.equal(ran.end?.text, '{"doubled":8,"thread":"thread-1"}')
  t.match(ran.of('progress'), [{ message: 'half way', fraction: 0.5, callId: undefined }])
  t.match(ran.log, [{ level: 'info', fields: { tool: 'double', callId: String }, message: 'tool call' }])
  t.notOk(ran.types().some((type) => type.startsWith('tool-')))
})

t.test('the budget binds the questions of steps, and the hooks of the agent hear of them', async (t) => {
  const model = scriptedModel([['said', { type: 'usage', usage: { ...usage, input: 100 }, estimated: false }]])
  const question = askModel<Notes>({ question: () => ({ messages: 'x'.repeat(400) }), into: note })
  const told: unknown[] = []
  const ran = await run(t, [question, question, question], { model, agent: { budget: { tokens: 250 }, onUsage: ({ usage: { input } }) => { told.push(input) } } })
  t.match(ran.failure, { code: 'quota_exceeded' })
  t.equal(model.requests.length, 2, 'the third question was not asked')
  t.strictSame(told, [100, 100])
})

t.test('a tool that needs approval is not run by a step, unless the policy of the agent allows it', async (t) => {
  let calls = 0
  const gated = defineTool({ name: 'wipe', needsApproval: true, execute: () => ++calls })
  const step = callTool<Notes>(gated, { input: () => ({}) })
  t.match((await run(t, [step])).failure, { code: 'approval_unavailable' })
  t.match((await run(t, [step], { agent: { approveToolCall: () => ({ approved: false, reason: 'Never.' }) } })).failure, { code: 'tool_failed', message: /Never/ })
  t.equal(calls, 0)
  t.equal((await run(t, [step], { agent: { approveToolCall: () => true } })).failure, undefined)
  t.equal(calls, 1)
})

t.test('a tool that fails, gets the wrong input, or is the client’s, fails the step with words for the user', async (t) => {
  const fails = defineTool({ name: 'fails', execute: () => { throw new Error('secret') } })
  const denies = defineTool({ name: 'denies', execute: () => { throw new AppError('permission_denied', 'Not yours.') } })
  const strict = defineTool({ name: 'strict', input: z.object({ n: z.number() }), execute: () => 1 })
  const calling = async (tool: ReturnType<typeof defineTool>, input: unknown = {}) => (await run(t, [callTool(tool, { input: () => input })])).failure
  t.match(await calling(fails), { code: 'tool_failed', message: 'The tool "fails" failed.' })
  t.match(await calling(denies), { code: 'permission_denied', message: 'Not yours.' })
  t.match(await calling(strict, { n: 'x' }), { code: 'tool_failed', message: /do not fit: n: / })
  t.match(await calling(strict, 7), { code: 'tool_failed', message: /one JSON object/ })
  t.match(await calling(strict, { n: 1n }), { code: 'tool_failed' })
  t.match(await calling(defineTool({ name: 'theirs' })), { code: 'configuration_error' })
  t.match(await calling(defineTool({ name: 'slow', timeoutMs: 5, execute: () => new Promise(() => {}) })), { code: 'tool_failed', message: /within 5 ms/ })
})

t.test('another agent is heard as it speaks, without its reasoning, its calls, and those below it', async (t) => {
  const path = [{ agentId: 'a', name: 'helper', toolCallId: 'c1' }]
  const below = [...path, { agentId: 'b', name: 'deep', toolCallId: 'c2' }]
  const asked: unknown[] = []
  const events: RunEventBody[] = [
    { type: 'step-start', step: 1, agentPath: path },
    { type: 'reasoning-start', blockId: 'm0', agentPath: path }, { type: 'reasoning-delta', blockId: 'm0', delta: 'hm', agentPath: path },
    { type: 'text-start', blockId: 'm1' }, { type: 'text-delta', blockId: 'm1', delta: 'One' },
    { type: 'tool-call-start', callId: 'x', toolName: 'y', agentPath: path },
    { type: 'text-delta', blockId: 'z', delta: 'deep', agentPath: below },
    { type: 'progress', message: 'half', callId: 'x', agentPath: path },
    { type: 'usage', model: 'test:m', buckets: usage, agentPath: path }, { type: 'usage', model: 'test:m', buckets: usage, agentPath: below },
    { type: 'text-start', blockId: 'm2' }, { type: 'text-delta', blockId: 'm2', delta: 'two' },
    { type: 'file', mediaType: 'x/y', fileId: 'f', agentPath: path }
  ]
  const ran = await run(t, [askAgent('helper', { task: ({ notes }) => `task ${notes.length}`, into: note }), async function * ({ notes }) { yield notes.join() }], {
    askAgent: async function * (...args) {
      asked.push(args)
      for (const event of events) yield [event]
    }
  })
  t.strictSame(asked, [['helper', 'task 0', { metadata: undefined }]])
  t.equal(ran.end?.text, 'One\n\ntwo\n\nOne\n\ntwo')
  t.match(ran.of('usage').map(({ agentPath }) => agentPath), [path, below])
  t.match(ran.of('file'), [{ mediaType: 'x/y', fileId: 'f', agentPath: undefined }])
  t.match(ran.of('progress'), [{ message: 'half', callId: undefined, agentPath: undefined }])
  t.match((await run(t, [askAgent('helper', { task: () => '' })], { askAgent: async function * () { throw new AppError('provider_unavailable', 'away') } })).failure, { code: 'provider_unavailable' })
})

t.test('an agent recalls once, and what it remembers is kept when all steps are done', async (t) => {
  const memory = volatile()
  const turn = (answerId: string, path: readonly string[] = []) => createTurnMemory({ memory, thread, answerId, path, stored: [] })
  const known = async () => (await memory.recall(thread)).messages
  const talk = [
    recall<Notes>((state, messages) => note(state, messages.length)),
    remember<Notes>(({ notes }, { question }) => said(question, ...notes)),
    async function * ({ notes }: Notes) { yield `knew ${notes.join()}` }
  ]
  t.equal((await run(t, talk, { memory: turn('a1') })).end?.text, 'knew 0')
  t.equal((await run(t, talk, { memory: turn('a2', ['a1']) })).end?.text, 'knew 2')
  t.strictSame(await known(), said('hello', '2'))
  const fails: Step<Notes> = async function * () { throw new AppError('provider_unavailable', 'away') }
  await run(t, [...talk, fails], { memory: turn('a3', ['a2']) })
  t.equal((await memory.recall(thread)).version, 'a2', 'a turn that failed is not remembered')
  const twice = await run(t, [recall<Notes>((state) => state), ...talk], { memory: turn('a3', ['a2']) })
  t.match(twice.failure, { code: 'configuration_error', message: /twice/ })
  t.match((await run(t, [loop<Notes>({ while: () => true, atMost: 2 }, recall((state) => state))])).failure, { code: 'configuration_error' })
})

t.test('a turn that cannot be remembered is told and completes', async (t) => {
  const memory = createTurnMemory({ memory: { recall: () => [], remember: () => false }, thread, answerId: 'a1', path: [], stored: [] })
  const ran = await run(t, [remember<Notes>(() => said('x')), async function * () { yield 'done' }], { memory })
  t.match(ran.body.at(-1), { type: 'data', name: 'unavailable', data: { stage: 'memory' }, transient: true })
  t.equal(ran.end?.text, 'done')
  t.equal((await run(t, [remember<Notes>(() => said('x'))])).end?.kind, 'completed', 'an agent without a memory keeps nothing')
})

t.test('a headless run that asks for a shape is answered in it, or fails', async (t) => {
  const schema = z.object({ n: z.number() })
  const response = { schema: toJsonSchema(schema), check: compileSchema(schema) }
  t.equal((await run(t, [async function * () { yield '{"n":1}' }], { input: { mode: 'headless', response } })).end?.text, '{"n":1}')
  t.match((await run(t, [async function * () { yield 'one' }], { input: { mode: 'headless', response } })).failure, { code: 'provider_unavailable' })
})

t.test('what a step has shown and used stands when it fails', async (t) => {
  const model = scriptedModel([['so far', { throw: new AppError('provider_unavailable', 'away') }]])
  const ran = await run(t, [askModel({ question: () => ({}) })], { model })
  t.match(ran.failure, { code: 'provider_unavailable' })
  t.strictSame(ran.types(), ['step-start', 'text-start', 'text-delta', 'usage', 'text-end'], 'the block is closed by who ends the run')
  t.match(ran.of('usage'), [{ estimated: true }])
  t.match((await run(t, [async function * () { throw new Error('bug') }])).failure, { message: 'bug' })
})

const silent: Step<Notes> = async function * () { await new Promise(() => {}) }
const asksModel = askModel<Notes>({ question: () => ({}) })
const asksUnseen = askModel<Notes>({ question: () => ({}), show: false })
const deafTool = callTool<Notes>(defineTool({ name: 'deaf', execute: () => new Promise(() => {}) }), { input: () => ({}) })
const listeningTool = callTool<Notes>(defineTool({ name: 'listening', execute: (_input, { signal }) => delay(10_000, signal) }), { input: () => ({}) })

const stopped: readonly { name: string, step: Step<Notes>, initial?: () => Promise<Notes> }[] = [
  { name: 'in a silent step', step: silent },
  { name: 'in a model call', step: asksModel },
  { name: 'in a model call that is not shown', step: asksUnseen },
  { name: 'in a tool', step: deafTool },
  { name: 'in a tool that listens', step: listeningTool },
  { name: 'in all of these at once, in a loop', step: loop({ while: () => true, atMost: 9 }, concurrent([silent, asksModel, asksUnseen, deafTool, listeningTool], (_states, before) => before)) },
  { name: 'before another attempt', step: retry(async function * () { throw new Error('broken') }, { delayMs: 10_000 }) },
  { name: 'while the first state is made', step: silent, initial: () => new Promise<never>(() => {}) }
]

for (const { name, step, initial } of stopped) {
  t.test(`a stop ends the run within 100 ms ${name}`, async (t) => {
    let tookMs = Infinity
    // What else the machine does only adds to it.
    for (let attempt = 1; attempt <= 3 && tookMs >= 100; attempt++) tookMs = await stopIn(t, step, initial)
    t.ok(tookMs < 100, `${tookMs} ms`)
  })
}

async function stopIn (t: Test, step: Step<Notes>, initial: (() => Promise<Notes>) | undefined): Promise<number> {
  const stop = new AbortController()
  const model = scriptedModel([['begun', { hang: true }]])
  let stoppedAt = 0
  setTimeout(() => {
    stoppedAt = performance.now()
    stop.abort(new RunStopped('enough'))
  }, 30)
  const ran = await run(t, [step], { model, signal: stop.signal, ...(initial === undefined ? {} : { initial }) })
  t.match(ran.failure, { reason: 'enough' })
  t.equal(model.closed(), model.requests.length, 'no model call goes on')
  for (const event of ran.of('usage')) t.equal(event.estimated, true)
  t.equal(ran.of('usage').length, model.requests.length, 'what the model used is told')
  return ran.endedAt - stoppedAt
}

const busy: readonly { name: string, output: (state: Notes) => StepOutput<Notes> }[] = [
  { name: 'text', output: () => 'x' },
  { name: 'progress', output: () => ({ type: 'progress', message: 'x' }) },
  { name: 'states', output: (state) => ({ type: 'state', state }) }
]

for (const { name, output } of busy) {
  // Counted and not timed: what takes all of a processor may have to wait for it on a busy machine.
  t.test(`a step that gives ${name} without ever waiting lets others work, and hears of a stop`, async (t) => {
    const stop = new AbortController()
    let given = 0
    let atStop = 0
    setTimeout(() => {
      atStop = given
      stop.abort(new RunStopped('enough'))
    }, 20)
    const ran = await run(t, [async function * (state) { for (;; given++) yield output(state) }], { signal: stop.signal })
    t.match(ran.failure, { reason: 'enough' })
    t.ok(atStop > 0 && given - atStop <= 1, `${atStop} before, ${given - atStop} after`)
  })
}

t.test('a reader that leaves closes what the step has open', async (t) => {
  const closed: string[] = []
  const model = scriptedModel([['begun', ' more', { hang: true }]])
  const step: Step<Notes> = async function * (_state, context) {
    try {
      yield * context.askModel({})
    } finally {
      closed.push('step')
    }
  }
  await run(t, [step], { model, until: 'text-delta' })
  t.strictSame(closed, ['step'])
  t.equal(model.closed(), 1)
})

interface Options extends Partial<Pick<StepsRun, 'askAgent'>> {
  readonly memory?: TurnMemory
  readonly model?: ScriptedModel
  readonly agent?: Partial<StepsAgentDefinition<Notes>>
  readonly input?: Partial<RunInput>
  readonly initial?: () => Promise<Notes>
  readonly signal?: AbortSignal
  /** Leaves at the first event of this type. */
  readonly until?: RunEventType
  readonly onEvent?: (event: RunEventBody) => void
}

interface Ran {
  readonly body: readonly RunEventBody[]
  readonly end: StepsEnd | undefined
  readonly failure: unknown
  /** When it failed. */
  readonly endedAt: number
  readonly log: readonly LoggedLine[]
  readonly usage: object
  readonly types: () => readonly RunEventType[]
  readonly of: <T extends RunEventType>(type: T) => Array<RunEventOf<T>>
}

async function * nobody (): ReturnType<StepsRun['askAgent']> {
  throw new Error('nobody is to be asked')
}

/** Runs steps as the root agent is run, and checks the order of the events; `body` is what stands between the start and the end. */
async function run (t: Test, steps: readonly Step<Notes>[], options: Options = {}): Promise<Ran> {
  const { model = scriptedModel([['answer']]), input = {}, agent: more, initial = { notes: [] }, signal = new AbortController().signal, memory, askAgent = nobody, until, onEvent } = options
  const agent = agentOf(stepsAttributes<Notes>({ key: 'tester', initial, steps, ...more }), model.id)
  const { pipeline } = agent
  if (pipeline === undefined) throw new Error('an agent of steps has a pipeline')
  const log = recordingLog()
  const runInput: RunInput = {
    runId: 'run-1', messageId: 'answer-1', threadId: 'thread-1', agent, principal: alice, metadata: { shop: 7 },
    history: [{ role: 'user', content: 'hello' }], mode: 'chat', useTools: true, suspendsFor: 'everything', memory, ...input
  }
  const deps = { models: { get: () => model, defaultModel: model.id }, agents: registryWith([]), permissions: createPermissions(), log, toolOutputLimit: 0, subagentDigestLimit: 0, approvalTtlMs: 0 }
  const frame = rootFrame(runInput, deps)
  const body: RunEventBody[] = []
  const openEnds = createOpenEnds()
  let end: StepsEnd | undefined
  let failure: unknown
  let endedAt = 0
  const events = runSteps(frame, pipeline, { signal, askAgent })
  try {
    let next = await events.next()
    while (next.done !== true) {
      if (next.value.length === 0) t.fail('a batch is never empty')
      openEnds.observe(next.value)
      body.push(...next.value)
      for (const event of next.value) onEvent?.(event)
      if (next.value.some(({ type }) => type === until)) {
        await events.return(undefined as never) // nobody reads the end
        break
      }
      next = await events.next()
    }
    end = next.done === true ? next.value : undefined
  } catch (error) {
    failure = error
    endedAt = performance.now()
    body.push(...openEnds.close('failed'))
  }
  const broken: RunEventBody = { type: 'run-failed', code: 'unknown', message: '', retryable: false, ref: '' }
  const start: RunEventBody = { type: 'message-start', messageId: 'answer-1', runId: 'run-1', agentId: agent.id, model: model.id, continued: false }
  const whole = failure === undefined ? [start, ...body, { type: 'message-end', finishReason: 'stop', usage: frame.state.ledger.spent().usage } as const, { type: 'run-completed' } as const] : [start, ...body, broken]
  if (until === undefined) t.strictSame(checkOrder(whole), [], 'the events are in order')
  return {
    body, end, failure, endedAt, log: log.lines, usage: frame.state.ledger.spent().usage,
    types: () => body.map(({ type }) => type),
    of: <T extends RunEventType>(type: T) => body.filter((event): event is RunEventOf<T> => event.type === type)
  }
}
