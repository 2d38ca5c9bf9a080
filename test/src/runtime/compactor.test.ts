import t from 'tap'
import type { AgentDefinition } from '../../../src/agents/agent.ts'
import { AppError, RunStopped } from '../../../src/errors.ts'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { estimateInput } from '../../../src/models/estimate.ts'
import type { Model, ModelMessage } from '../../../src/models/model.ts'
import { compactorOf, type Compactor, type CompactorOptions } from '../../../src/runtime/compactor.ts'
import { createLedger, type Ledger } from '../../../src/runtime/ledger.ts'
import { prepareCall, type PreparedCall } from '../../../src/runtime/prepare-call.ts'
import { createRunState, type RunState } from '../../../src/runtime/run-state.ts'
import { agentOf } from '../../helpers/agents.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { brokenPairs } from '../../helpers/model-messages.ts'
import { scriptedModel, type ScriptedModel, type ScriptStep } from '../../helpers/scripted-model.ts'
import { request as plain, step, watching } from './stepping.ts'

const contextWindow = 2_000
const long = 'They talked about this and that for a while. '.repeat(12)

/** Three times the window. */
function history (): ModelMessage[] {
  const turns = Array.from({ length: 25 }, (_, n): ModelMessage[] => [{ role: 'user', content: `Question ${n}: ${long}` }, { role: 'assistant', text: `Answer ${n}: ${long}`, toolCalls: [] }])
  return [...turns.flat(), { role: 'user', content: 'And now?' }]
}

interface World { readonly model: ScriptedModel & Model, readonly state: RunState, readonly compactor: Compactor | undefined, readonly log: ReturnType<typeof recordingLog> }

function world ({ script = [['A summary.']], agent = {}, ledger, ...more }: { script?: ScriptStep[][], agent?: Partial<AgentDefinition>, ledger?: Ledger } & Partial<CompactorOptions> = {}): World {
  const model = { ...scriptedModel(script), contextWindow, prices: { input: 1, output: 10 } }
  const state = createRunState(history(), { ledger })
  const log = recordingLog()
  const compactor = compactorOf(agentOf({ compaction: 'auto', ...agent }, model.id), {
    models: { get: () => model, defaultModel: model.id }, state, runId: 'run-1', signal: new AbortController().signal, log, ...more
  })
  return { model, state, compactor, log }
}

const requestOf = (state: RunState) => ({ ...plain, messages: state.messages })

async function prepare ({ model, state, compactor }: World): Promise<{ events: RunEventBody[], prepared: PreparedCall | undefined, error: unknown }> {
  const events: RunEventBody[] = []
  const steps = prepareCall(requestOf(state), { model, state, compactor })
  try {
    for (;;) {
      const next = await steps.next()
      if (next.done === true) return { events, prepared: next.value, error: undefined }
      events.push(...next.value)
    }
  } catch (error) {
    return { events, prepared: undefined, error }
  }
}

t.test('a conversation is made to fit once, and stays so while it grows, and whole where it is kept', async (t) => {
  const { observer, calls } = watching()
  const at = world({ observer })
  const { prepared, events } = await prepare(at)
  t.ok(estimateInput(prepared?.request ?? plain) < 0.92 * contextWindow)
  t.strictSame(at.state.messages, history())
  t.strictSame(brokenPairs(prepared?.request.messages ?? []), [])
  const summaries = at.model.requests.length
  t.ok(summaries > 1)
  t.equal(events.length, summaries)
  t.match(events, events.map(() => ({ type: 'usage', model: 'test:scripted', costUsd: 0.00006 })))
  t.match(at.state.ledger.spent(), { usage: { input: 10 * summaries }, costUsd: Number })
  t.equal(calls.length, summaries, 'who watches sees these calls too')

  const said: ModelMessage = { role: 'assistant', text: 'More.', toolCalls: [] }
  at.state.messages.push(said)
  t.strictSame((await prepare(at)).prepared?.request.messages, [...prepared?.request.messages ?? [], said])
  t.equal(at.model.requests.length, summaries, 'no more of them are needed')
  at.state.messages.push(...history())
  t.ok(estimateInput((await prepare(at)).prepared?.request ?? plain) < 0.92 * contextWindow)
})

t.test('it is off where it is not wanted, or where no window is known', async (t) => {
  t.equal(world({ agent: { compaction: 'off' } }).compactor, undefined)
  t.equal(world({ models: { get: () => scriptedModel([['x']]), defaultModel: 'x' } }).compactor, undefined)
  const at = world({ agent: { compaction: 'off' } })
  t.equal((await prepare(at)).prepared?.request.messages, at.state.messages)
})

t.test('the smallest window of an agent\'s models counts', async (t) => {
  const small = { ...scriptedModel([['A summary.']]), contextWindow: 1_000 }
  const main = { ...scriptedModel([['A summary.']]), contextWindow }
  const at = world({ agent: { fallbackModels: ['p:small', 'p:unknown'] }, models: { get: (id) => id === 'p:small' ? small : id === 'p:unknown' ? scriptedModel([]) : main, defaultModel: '' } })
  t.ok(estimateInput((await prepare(at)).prepared?.request ?? plain) < 920)
  t.equal(small.requests.length, 0, 'the agent\'s own model sums up')
})

t.test('a summary is made only where the budget has room for it, and so is the call itself', async (t) => {
  const at = world({ ledger: createLedger({ tokens: 1_500 }) })
  const { prepared } = await prepare(at)
  t.ok(at.state.ledger.spent().usage.input + at.state.ledger.spent().usage.output <= 1_500)
  t.ok(estimateInput(prepared?.request ?? requestOf(at.state)) < 0.92 * contextWindow, 'old turns are left out all the same')

  const poor = world({ ledger: createLedger({ tokens: 200 }) })
  t.strictSame(await prepare(poor), { events: [], prepared: undefined, error: undefined })
  t.equal(poor.model.requests.length, 0)
})

t.test('what is set aside for the call is for others again when it is released', async (t) => {
  const at = world({ ledger: createLedger({ tokens: 4_000 }) })
  const { prepared } = await prepare(at)
  t.equal(at.state.ledger.allows({ tokens: 3_000, costUsd: undefined }), false)
  prepared?.reservation.release()
  t.equal(at.state.ledger.allows({ tokens: 3_000, costUsd: undefined }), true)
})

t.test('a model that cannot sum up does not break the run', async (t) => {
  const at = world({ script: [[{ throw: new AppError('configuration_error', 'no') }]] })
  const { prepared, error } = await prepare(at)
  t.equal(error, undefined)
  t.match(prepared?.request.messages[1], { content: /left out/ })
  t.match(at.log.lines.map(({ message }) => message), ['a summary could not be made', 'a part of the conversation was left out without a summary', 'the conversation was shortened for the model'])
})

t.test('a stop ends a summary at once, and what it took is counted', async (t) => {
  const controller = new AbortController()
  const at = world({ script: [['Half a ', { hang: true }]], signal: controller.signal })
  setTimeout(() => { controller.abort(new RunStopped('user')) }, 20)
  const { events, error } = await prepare(at)
  t.match(error, { reason: 'user' })
  t.match(events, [{ type: 'usage', estimated: true }])
  t.ok(at.state.ledger.spent().usage.input > 0)
})

t.test('a model that finds the conversation too long is asked again with a shorter one, once', async (t) => {
  const overflow = { throw: new AppError('context_overflow', 'too long') }
  const short = history().slice(-9)
  const { observer, calls } = watching()
  const at = world({ script: [[overflow], ['Said.']] })
  at.state.messages.splice(0, Infinity, ...short)
  const { outcome, of, error } = await step({ model: at.model, state: at.state, request: requestOf(at.state), compactor: at.compactor, observer })
  t.equal(error, undefined)
  t.equal(outcome?.text, 'Said.')
  t.equal(of('usage').length, at.model.requests.length - 1, 'of the summaries and of the answer')
  const last = at.model.requests.at(-1) ?? plain
  t.match(last.instructions, 'Help.')
  t.ok(estimateInput(last) < 0.8 * estimateInput({ ...plain, messages: short }))
  t.match(calls, [{ ok: false, error: { code: 'context_overflow' } }, { ok: true }])

  const hopeless = world()
  hopeless.state.messages.splice(0, Infinity, ...short)
  let asked = 0
  const model: Model = { ...hopeless.model, generate (request, options) { asked++; return scriptedModel([[overflow]]).generate(request, options) } }
  t.match(await step({ model, state: hopeless.state, request: requestOf(hopeless.state), compactor: hopeless.compactor }), { error: { code: 'context_overflow' } })
  t.equal(asked, 2)

  const bare = world()
  bare.state.messages.splice(0, Infinity, { role: 'user', content: long })
  t.match(await step({ model, state: bare.state, request: requestOf(bare.state), compactor: bare.compactor }), { error: { code: 'context_overflow' } })
  t.equal(asked, 3, 'not again where nothing may go')
})
