import t from 'tap'
import { createRunawayGuard, type SettledCall } from '../../../src/runtime/runaway.ts'

type Step = readonly SettledCall[]

let n = 0
const call = (toolName: string, outcome: SettledCall['outcome'], input: unknown = { n: n++ }): SettledCall => ({ toolName, input, outcome })
const fails = (toolName: string) => call(toolName, 'failed')
const works = (toolName: string) => call(toolName, 'ok')
const same = (input: unknown = { q: 'x' }) => call('find', 'ok', input)

/** In which step, counted from 1, the guard speaks; 0 where it does not. */
function stopsAt (...steps: Step[]): number {
  const guard = createRunawayGuard()
  return steps.findIndex((step) => guard.observe(step) !== undefined) + 1
}

const cases: ReadonlyArray<{ name: string, steps: Step[], at: number }> = [
  { name: 'a tool that fails in three steps in a row', steps: [[fails('a')], [fails('a')], [fails('a')]], at: 3 },
  { name: 'also among others that work', steps: [[fails('a'), works('b')], [works('b'), fails('a')], [fails('a'), works('c')]], at: 3 },
  { name: 'not three failures of one step', steps: [[fails('a'), fails('a'), fails('a')]], at: 0 },
  { name: 'three failures of one step count once', steps: [[fails('a'), fails('a'), fails('a')], [fails('a')], [fails('a'), fails('a')]], at: 3 },
  { name: 'not a tool that works in between', steps: [[fails('a')], [fails('a')], [works('a')], [fails('a')], [fails('a')]], at: 0 },
  { name: 'not a tool of which a call of the same step works', steps: [[fails('a')], [fails('a')], [fails('a'), works('a')]], at: 0 },
  { name: 'not a tool that was left alone in between', steps: [[fails('a')], [fails('a')], [works('b')], [fails('a')]], at: 0 },
  { name: 'not three tools that fail once each', steps: [[fails('a')], [fails('b')], [fails('c')]], at: 0 },
  { name: 'denials do not count', steps: [[call('a', 'denied')], [call('a', 'denied')], [call('a', 'denied')], [call('a', 'denied', { x: 1 })], [call('a', 'denied', { x: 1 })], [call('a', 'denied', { x: 1 })]], at: 0 },
  { name: 'nor do they break a row', steps: [[fails('a')], [call('a', 'denied')], [fails('a')], [call('a', 'skipped')], [fails('a')]], at: 5 },
  { name: 'three identical calls in a row', steps: [[same()], [same()], [same()]], at: 3 },
  { name: 'in whatever order their fields come', steps: [[same({ a: 1, b: [{ c: 2, d: 3 }] })], [same({ b: [{ d: 3, c: 2 }], a: 1 })], [same({ a: 1, b: [{ c: 2, d: 3 }] })]], at: 3 },
  { name: 'not calls that differ', steps: [[same({ q: 1 })], [same({ q: 2 })], [same({ q: 1 })], [same({ q: [1, 2] })], [same({ q: [2, 1] })]], at: 0 },
  { name: 'not the same input of different tools', steps: [[call('a', 'ok', {})], [call('b', 'ok', {})], [call('c', 'ok', {})]], at: 0 },
  { name: 'not three identical calls of one step', steps: [[same(), same(), same()]], at: 0 },
  { name: 'identical calls of one step count once', steps: [[same(), same()], [same(), same()], [same()]], at: 3 },
  { name: 'three steps of the same calls', steps: [[same(), call('b', 'ok', 1)], [call('b', 'ok', 1), same()], [same(), call('b', 'ok', 1)]], at: 3 },
  { name: 'identical calls that fail', steps: [[call('a', 'failed', 'not json')], [call('a', 'failed', 'not json')], [call('a', 'failed', 'not json')]], at: 3 },
  { name: 'steps without calls change nothing', steps: [[same()], [], [same()], [], [same()]], at: 5 },
  { name: 'not before the third', steps: [[same()], [same()], [works('b')], [same()], [same()]], at: 0 }
]

for (const { name, steps, at } of cases) {
  t.test(`a run goes in circles: ${name}`, async (t) => { t.equal(stopsAt(...steps), at) })
}

t.test('the model is told why, and to answer', async (t) => {
  const guard = createRunawayGuard()
  t.match([1, 2, 3].map(() => guard.observe([fails('a')])), [undefined, undefined, /"a" has failed in 3 steps in a row.*Answer now/])
  const other = createRunawayGuard()
  t.match([1, 2, 3].map(() => other.observe([same()])), [undefined, undefined, /same call 3 times in a row.*Answer now/])
})
