import t from 'tap'
import type { Step } from '../../../../src/agents/steps/step.ts'
import { contextWith, take } from './stepping.ts'

interface Count { readonly count: number, readonly notes?: readonly string[] }

t.test('a step gets the state as the one before it left it, and says text, files and progress', async (t) => {
  const first: Step<Count> = async function * ({ count }) {
    yield 'one '
    yield { type: 'state', state: { count: count + 1 } }
    yield { type: 'progress', message: 'half', fraction: 0.5 }
    yield { type: 'state', state: { count: count + 2 } }
  }
  const second: Step<Count> = async function * ({ count }) {
    yield `count is ${count}`
    yield { type: 'file', mediaType: 'text/csv', url: 'https://127.0.0.1/a.csv', name: 'a.csv' }
  }
  t.strictSame(await take([first, second], { count: 0 }), {
    shown: ['one ', { type: 'progress', message: 'half', fraction: 0.5 }, 'count is 2', { type: 'file', mediaType: 'text/csv', url: 'https://127.0.0.1/a.csv', name: 'a.csv' }],
    text: 'one count is 2',
    state: { count: 2 }
  })
})

t.test('nobody changes a state: neither a step, nor who yielded it', async (t) => {
  const notes = ['a']
  const yields: Step<Count> = async function * () { yield { type: 'state', state: { count: 1, notes } } }
  const { state } = await take(yields, { count: 0 })
  t.throws(() => { notes.push('b') }, TypeError)
  t.throws(() => { Object.assign(state, { count: 2 }) }, TypeError)
  t.strictSame(state, { count: 1, notes: ['a'] })
  const changes: Step<Count> = async function * (state) { Object.assign(state, { count: 2 }) }
  await t.rejects(take([yields, changes], { count: 0 }), { name: 'TypeError' })
})

t.test('what is no plain data in a state is left as it is', async (t) => {
  const [map, date, shallow] = [new Map([[1, 2]]), new Date(0), Object.freeze({ inner: { a: 1 } })]
  const { state } = await take<object>(async function * () { yield { type: 'state', state: { map, date, shallow } } }, {})
  t.match(state, { map, date, shallow })
  map.set(3, 4)
  t.throws(() => { Object.assign(shallow.inner, { a: 2 }) }, TypeError, 'what was frozen at its surface only is frozen below it too')
  const circle: { self?: unknown } = {}
  circle.self = circle
  await take<object>(async function * () { yield { type: 'state', state: circle } }, {})
})

t.test('reasoning, events of tools and empty text are not shown', async (t) => {
  const traffic = [{ type: 'reasoning-delta', delta: 'hm' }, { type: 'tool-call-start', callId: 'c', toolName: 'x' }, { type: 'text-delta', delta: 'raw' }, { type: 'usage' }, '']
  const step = async function * () { yield * traffic } as unknown as Step<Count> // code without types
  t.strictSame((await take(step, { count: 0 })).shown, [])
})

t.test('what is neither text nor an object with a type is a mistake of the step, and so is a file without a type', async (t) => {
  for (const output of [7, null, undefined, { text: 'x' }, ['x'], { type: 1 }, { type: 'file', url: 'x' }, { type: 'progress' }]) {
    const step = async function * () { yield output } as unknown as Step<Count> // code without types
    await t.rejects(take(step, { count: 0 }), { code: 'configuration_error', message: /^A step yielded something that is / }, JSON.stringify(output))
  }
  const odd = async function * () { yield { type: 'progress', message: 'x', fraction: NaN, more: 1 } } as unknown as Step<Count> // code without types
  t.strictSame(JSON.stringify((await take(odd, { count: 0 })).shown), '[{"type":"progress","message":"x"}]')
})

t.test('an abort ends a step at once and closes it', async (t) => {
  const stop = new AbortController()
  let closed = false
  const step: Step<Count> = async function * (_state, { signal }) {
    try {
      yield 'begun'
      await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason) }) })
    } finally {
      closed = true
    }
  }
  setTimeout(() => { stop.abort(new Error('stopped')) }, 5)
  await t.rejects(take(step, { count: 0 }, contextWith({ signal: stop.signal })), { message: 'stopped' })
  t.equal(closed, true)
})
