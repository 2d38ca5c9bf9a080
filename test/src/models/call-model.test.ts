import { getEventListeners } from 'node:events'
import t from 'tap'
import { AppError } from '../../../src/errors.ts'
import { callModel, type CallOptions, type Retry } from '../../../src/models/call-model.ts'
import type { ModelRequest } from '../../../src/models/model.ts'
import { finishOf, hear, textOf } from '../../helpers/chat-events.ts'
import { scriptedModel, type ScriptStep } from '../../helpers/scripted-model.ts'

const request: ModelRequest = { instructions: '', messages: [{ role: 'user', content: 'x' }], tools: [], toolChoice: 'auto', settings: {} }
const unavailable = (options = {}) => new AppError('provider_unavailable', 'gone', options)

t.test('what a model says passes, and its iterator is closed', async (t) => {
  const model = scriptedModel([['Hel', 'lo']])
  const { events, error } = await hear(callModel(model, request, options()))
  t.equal(error, undefined)
  t.equal(textOf(events), 'Hello')
  t.equal(finishOf(events), 'stop')
  t.equal(model.closed(), 1)
})

t.test('a failure before the first event is tried again, twice at most, with growing random pauses', async (t) => {
  for (const [responses, calls, text] of [
    [[[{ throw: unavailable() }], ['ok']], 2, 'ok'],
    [[[{ throw: unavailable() }], [{ throw: new AppError('rate_limited', 'slow') }], ['ok']], 3, 'ok'],
    [[[{ throw: unavailable() }]], 3, undefined]
  ] as Array<[ScriptStep[][], number, string | undefined]>) {
    const model = scriptedModel(responses)
    const retries: Retry[] = []
    const slept: number[] = []
    const { events, error } = await hear(callModel(model, request, options({ onRetry: (retry) => retries.push(retry), sleep: async (ms) => { slept.push(ms) }, random: () => 0.5 })))
    t.equal(model.requests.length, calls)
    t.equal(model.closed(), calls)
    t.equal(textOf(events), text ?? '')
    t.match(error, text === undefined ? { code: 'provider_unavailable' } : undefined)
    t.strictSame(slept, [250, 500].slice(0, calls - 1))
    t.strictSame(retries.map(({ attempt, delayMs }) => [attempt, delayMs]), [[1, 250], [2, 500]].slice(0, calls - 1))
  }
})

t.test('nothing is tried again once something was said, or when it could not help', async (t) => {
  for (const step of [['half', { throw: unavailable() }], [{ throw: new AppError('configuration_error', 'key') }], [{ throw: new Error('a bug') }]] as ScriptStep[][]) {
    const model = scriptedModel([step])
    const { error } = await hear(callModel(model, request, options()))
    t.ok(error)
    t.equal(model.requests.length, 1)
  }
})

t.test('a time to wait is kept up to 20 seconds and passed on beyond', async (t) => {
  const slept: number[] = []
  const sleep = async (ms: number) => { slept.push(ms) }
  t.equal(textOf((await hear(callModel(scriptedModel([[{ throw: unavailable({ retryAfterMs: 20_000 }) }], ['ok']]), request, options({ sleep })))).events), 'ok')
  t.strictSame(slept, [20_000])
  const long = await hear(callModel(scriptedModel([[{ throw: unavailable({ retryAfterMs: 20_001 }) }], ['ok']]), request, options({ sleep })))
  t.match(long.error, { code: 'provider_unavailable', retryAfterMs: 20_001 })
  t.equal(slept.length, 1)
})

t.test('a model that does not begin in time is given up and tried again', async (t) => {
  const model = scriptedModel([[{ hang: true }], ['ok']], { deaf: true })
  const retries: Retry[] = []
  const { events } = await hear(callModel(model, request, options({ firstTokenMs: 30, onRetry: (retry) => retries.push(retry) })))
  t.equal(textOf(events), 'ok')
  t.match(retries, [{ error: { code: 'provider_timeout' } }])
})

t.test('silence in an answer ends it; events that keep coming do not, nor does a slow reader', async (t) => {
  const silent = await hear(callModel(scriptedModel([['a', { hang: true }]], { deaf: true }), request, options({ idleMs: 40 })))
  t.equal(textOf(silent.events), 'a')
  t.match(silent.error, { code: 'provider_timeout' })

  const steady = await hear(callModel(scriptedModel([Array.from({ length: 8 }, () => [{ waitMs: 20 }, 'x']).flat()]), request, options({ idleMs: 90 })))
  t.equal(steady.error, undefined)
  t.equal(textOf(steady.events), 'xxxxxxxx')

  let read = ''
  for await (const batch of callModel(scriptedModel([['a', 'b', 'c']]), request, options({ idleMs: 30 }))) {
    read += textOf(batch)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  t.equal(read, 'abc')
})

t.test('an abort throws its reason at once, whatever the model does', async (t) => {
  const reason = new Error('stopped')
  for (const [script, deaf] of [[[{ hang: true }], true], [[{ hang: true }], false], [['a', { hang: true }], true]] as Array<[ScriptStep[], boolean]>) {
    const model = scriptedModel([script], { deaf })
    const controller = new AbortController()
    setTimeout(() => { controller.abort(reason) }, 20)
    const begin = performance.now()
    t.equal((await hear(callModel(model, request, options({ signal: controller.signal })))).error, reason)
    t.ok(performance.now() - begin < 1_000)
    t.equal(model.requests.length, 1, 'and is no reason to try again')
  }
  const late = AbortSignal.abort(reason)
  t.equal((await hear(callModel(scriptedModel([['a']]), request, options({ signal: late })))).error, reason)
})

t.test('an abort between two events is thrown by the next one', async (t) => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  const iterator = callModel(scriptedModel([['a', 'b']]), request, options({ signal: controller.signal }))[Symbol.asyncIterator]()
  await iterator.next()
  controller.abort(reason)
  await t.rejects(iterator.next(), reason)
})

t.test('an abort ends the pause before a retry', async (t) => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  const model = scriptedModel([[{ throw: unavailable({ retryAfterMs: 15_000 }) }]])
  setTimeout(() => { controller.abort(reason) }, 20)
  t.equal((await hear(callModel(model, request, { signal: controller.signal, timeouts: { firstTokenMs: 5_000, idleMs: 5_000 } }))).error, reason)
  t.equal(model.requests.length, 1)
})

t.test('a reader that leaves closes the model', async (t) => {
  const model = scriptedModel([['a', 'b', { hang: true }]])
  for await (const batch of callModel(model, request, options())) {
    if (textOf(batch) === 'b') break
  }
  t.equal(model.closed(), 1)
})

t.test('a stream without a finish is a broken answer', async (t) => {
  const model = { id: 'test:short', generate: async function * () { yield [{ type: 'text-delta' as const, delta: 'a' }] } }
  t.match((await hear(callModel(model, request, options()))).error, { code: 'provider_unavailable' })
})

t.test('a call leaves no listener on the signal', async (t) => {
  const { signal } = new AbortController()
  await hear(callModel(scriptedModel([[{ throw: unavailable() }], ['ok']]), request, options({ signal })))
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

function options ({ firstTokenMs = 5_000, idleMs = 5_000, ...rest }: Partial<CallOptions> & { firstTokenMs?: number, idleMs?: number } = {}): CallOptions {
  return { signal: new AbortController().signal, sleep: async () => {}, ...rest, timeouts: { firstTokenMs, idleMs } }
}
