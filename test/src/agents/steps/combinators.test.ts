import t from 'tap'
import { askAgent, askModel, callTool, unseen } from '../../../../src/agents/steps/ask.ts'
import { concurrent } from '../../../../src/agents/steps/concurrent.ts'
import { loop } from '../../../../src/agents/steps/loop.ts'
import { recall, remember } from '../../../../src/agents/steps/memory-steps.ts'
import { retry } from '../../../../src/agents/steps/retry.ts'
import type { ShownOutput, Step } from '../../../../src/agents/steps/step.ts'
import { AppError } from '../../../../src/errors.ts'
import type { ModelMessage } from '../../../../src/models/model.ts'
import { delay } from '../../../../src/streams/abort.ts'
import { defineTool } from '../../../../src/tools/tool.ts'
import { said } from '../../../contracts/memory.ts'
import { contextWith, echo, take } from './stepping.ts'

interface Count { readonly count: number }

const add: Step<Count> = async function * ({ count }) {
  yield `${count} `
  yield { type: 'state', state: { count: count + 1 } }
}

t.test('loop takes its steps again while its condition holds', async (t) => {
  t.match(await take(loop({ while: ({ count }) => count < 4, atMost: 10 }, add, add), { count: 0 }), { text: '0 1 2 3 ', state: { count: 4 } })
  t.match(await take(loop({ while: async () => false, atMost: 10 }, add), { count: 7 }), { text: '', state: { count: 7 } })
  const rounds: number[] = []
  await take(loop({ while: (_state, round) => rounds.push(round) < 3, atMost: 10 }, add), { count: 0 })
  t.strictSame(rounds, [0, 1, 2])
})

t.test('loop has an end, whatever its condition says', async (t) => {
  t.match(await take([loop({ while: () => true, atMost: 3 }, add), add], { count: 0 }), { text: '0 1 2 3 ', state: { count: 4 } })
  for (const atMost of [0, -1, 1.5, NaN, Infinity, 10_001]) t.throws(() => loop({ while: () => true, atMost }, add), { name: 'TypeError' }, String(atMost))
})

t.test('concurrent runs its steps side by side from one state, and merges theirs in order', async (t) => {
  const running = { now: 0, most: 0 }
  const branch = (by: number, ms: number): Step<Count> => async function * ({ count }) {
    running.most = Math.max(running.most, ++running.now)
    await delay(ms)
    running.now--
    yield { type: 'state', state: { count: count + by } }
  }
  const step = concurrent([branch(1, 20), branch(10, 5), branch(100, 0)], (states, before) => ({ count: Number([...states.map(({ count }) => count), before.count].join('')) }))
  t.strictSame((await take(step, { count: 3 })).state, { count: 4131033 })
  t.equal(running.most, 3)
  t.strictSame((await take(concurrent<Count>([], (_states, before) => before), { count: 3 })).state, { count: 3 })
})

t.test('what concurrent steps say does not mix: the first is heard as it speaks, the others behind it, progress at once', async (t) => {
  const speaks = (name: string, ms: number): Step<Count> => async function * () {
    yield { type: 'progress', message: name }
    yield `${name}1 `
    await delay(ms)
    yield `${name}2 `
    yield { type: 'file', mediaType: `x/${name}` }
  }
  const { shown, text } = await take(concurrent([speaks('a', 20), speaks('b', 0), speaks('c', 40)], ([first]) => first!), { count: 0 }) // of three
  t.equal(text, 'a1 a2 b1 b2 c1 c2 ')
  const index = (wanted: ShownOutput) => shown.findIndex((output) => JSON.stringify(output) === JSON.stringify(wanted))
  t.ok(index({ type: 'progress', message: 'c' }) < index('a2 '), 'progress does not wait')
  t.ok(index({ type: 'file', mediaType: 'x/a' }) < index('b1 '))
  t.ok(index({ type: 'file', mediaType: 'x/b' }) < index('c1 '))
})

t.test('a concurrent step that fails ends the others and closes them', async (t) => {
  const closed: string[] = []
  const waits: Step<Count> = async function * (_state, { signal }) {
    try {
      for (;;) {
        yield { type: 'progress', message: 'alive' }
        await delay(1, signal)
      }
    } finally {
      closed.push('waits')
    }
  }
  const fails: Step<Count> = async function * () {
    await delay(5)
    throw new Error('broken')
  }
  await t.rejects(take(concurrent([waits, fails], ([first]) => first!), { count: 0 }), { message: 'broken' }) // of two
  t.strictSame(closed, ['waits'])
})

t.test('retry takes a step again while it fails silently, each time from the same state', async (t) => {
  const seen: number[] = []
  const flaky: Step<Count> = async function * ({ count }) {
    seen.push(count)
    yield { type: 'state', state: { count: count + 5 } }
    if (seen.length < 3) throw new AppError('provider_unavailable', 'away')
    yield 'done'
  }
  t.match(await take(retry(flaky, { delayMs: 1 }), { count: 1 }), { shown: ['done'], state: { count: 6 } })
  t.strictSame(seen, [1, 1, 1])
})

t.test('retry gives up after its attempts, for what is not worth one, and once something was shown', async (t) => {
  const attempts = { count: 0 }
  const failing = (...outputs: readonly ShownOutput[]): Step<Count> => async function * () {
    attempts.count++
    yield * outputs
    throw new AppError('provider_unavailable', 'away')
  }
  const tries = async (step: Step<Count>, options: Parameters<typeof retry>[1]) => {
    attempts.count = 0
    const shown: ShownOutput[] = []
    await t.rejects(take(retry(step, { delayMs: 1, ...options }), { count: 0 }, contextWith(), shown), { code: 'provider_unavailable' })
    return { attempts: attempts.count, shown: shown.length }
  }
  t.strictSame(await tries(failing(), { attempts: 2 }), { attempts: 2, shown: 0 })
  t.strictSame(await tries(failing(), { when: () => false }), { attempts: 1, shown: 0 })
  for (const output of ['text', { type: 'progress', message: 'x' }, { type: 'file', mediaType: 'x/y' }] as const) t.strictSame(await tries(failing(output), {}), { attempts: 1, shown: 1 })
  t.throws(() => retry(failing(), { attempts: 0 }), { name: 'TypeError' })
})

t.test('retry does not outlive a stop', async (t) => {
  const stop = new AbortController()
  let attempts = 0
  const failing: Step<Count> = async function * () {
    attempts++
    throw new Error('broken')
  }
  setTimeout(() => { stop.abort(new Error('stopped')) }, 10)
  await t.rejects(take(retry(failing, { delayMs: 10_000_000 }), { count: 0 }, contextWith({ signal: stop.signal })), { message: 'stopped' })
  t.equal(attempts, 1)
})

t.test('askModel and askAgent show an answer as it comes, put it into the state, or do one of both', async (t) => {
  interface Said { readonly text: string }
  const into = (state: Said, text: string): Said => ({ text: `${state.text}[${text}]` })
  t.strictSame(await take(askModel<Said>({ question: ({ text }) => ({ messages: `${text} b` }), into }), { text: 'a' }), { shown: ['model: ', 'a ', 'b'], text: 'model: a b', state: { text: 'a[model: a b]' } })
  t.match(await take(askModel<Said>({ question: () => ({ messages: 'x' }), show: false, into }), { text: '' }), { shown: [], state: { text: '[model: x]' } })
  t.match(await take(askModel<Said>({ question: (_state, { question }) => ({ messages: question }) }), { text: '' }), { text: 'model: hello', state: { text: '' } })
  t.match(await take(askAgent<Said>('helper', { task: ({ text }) => text, into }), { text: 'go' }), { text: 'helper: go', state: { text: 'go[helper: go]' } })
  t.equal(await unseen(echo('a b')), 'a b')
})

t.test('an answer that is not shown is closed with its step', async (t) => {
  const stop = new AbortController()
  let closed = false
  const context = contextWith({
    signal: stop.signal,
    askModel: async function * () {
      try {
        yield 'begun'
        await delay(10_000, stop.signal)
        stop.signal.throwIfAborted()
        return ''
      } finally {
        closed = true
      }
    }
  })
  setTimeout(() => { stop.abort(new Error('stopped')) }, 5)
  await t.rejects(take(askModel<Count>({ question: () => ({}), show: false }), { count: 0 }, context), { message: 'stopped' })
  t.equal(closed, true)
})

t.test('callTool gives a tool its input and puts the output into the state, without showing either', async (t) => {
  const tool = defineTool({ name: 'double' })
  const context = contextWith({ callTool: async (called, input) => called === tool ? (input as { n: number }).n * 2 : undefined }) // as given below
  const input = ({ count }: Count) => ({ n: count })
  t.match(await take(callTool(tool, { input, into: (_state, output) => ({ count: Number(output) }) }), { count: 4 }, context), { shown: [], state: { count: 8 } })
  t.match(await take(callTool(tool, { input }), { count: 4 }, context), { shown: [], state: { count: 4 } })
})

t.test('recall and remember are steps of their own', async (t) => {
  interface Talk { readonly messages: readonly ModelMessage[] }
  const kept: unknown[] = []
  const context = contextWith({ memory: { recall: async () => said('one'), remember: (messages) => { kept.push(messages) } } })
  const steps = [recall<Talk>((state, messages) => ({ messages: [...state.messages, ...messages] })), remember<Talk>(({ messages }, { question }) => [...messages, ...said(question)])]
  t.match(await take(steps, { messages: [] }, context), { shown: [], state: { messages: said('one') } })
  t.strictSame(kept, [[...said('one'), ...said('hello')]])
})

t.test('a memory step outside of an agent is a mistake', async (t) => {
  for (const step of [recall<Count>((state) => state), remember<Count>(() => [])]) await t.rejects(take(step, { count: 0 }), { code: 'configuration_error', message: /inside of an agent/ })
})
