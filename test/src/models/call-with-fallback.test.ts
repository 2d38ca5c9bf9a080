import { getEventListeners } from 'node:events'
import t from 'tap'
import { AppError, type ErrorCode } from '../../../src/errors.ts'
import { callWithFallback, type Fallback, type FallbackOptions } from '../../../src/models/call-with-fallback.ts'
import type { ModelEvent, ModelRequest } from '../../../src/models/model.ts'
import { eventsOf, hear, textOf } from '../../helpers/chat-events.ts'
import { scriptedModel, type ScriptStep } from '../../helpers/scripted-model.ts'

const request: ModelRequest = { instructions: '', messages: [{ role: 'user', content: 'x' }], tools: [], toolChoice: 'auto', settings: {} }
const fails = (code: ErrorCode): ScriptStep[] => [{ throw: new AppError(code, code) }]
const model = (id: string, ...responses: ScriptStep[][]) => scriptedModel(responses, { id })

t.test('a model that answers is the only one that is asked', async (t) => {
  const [main, spare] = [model('p:main', ['ok']), model('p:spare', ['no'])]
  t.equal(textOf((await hear(callWithFallback([main, spare], request, options()))).events), 'ok')
  t.equal(spare.requests.length, 0)
  t.equal(main.closed(), 1)
})

for (const code of ['provider_unavailable', 'provider_timeout', 'rate_limited', 'configuration_error', 'context_overflow'] as const) {
  t.test(`another model is asked after ${code}, once the first was tried again as often as it may be`, async (t) => {
    const [main, spare] = [model('p:main', fails(code)), model('p:spare', ['ok'])]
    const fallbacks: Fallback[] = []
    const { events, error } = await hear(callWithFallback([main, spare], request, options({ onFallback: (fallback) => fallbacks.push(fallback) })))
    t.equal(error, undefined)
    t.equal(textOf(events), 'ok')
    t.equal(main.requests.length, ['configuration_error', 'context_overflow'].includes(code) ? 1 : 3)
    t.match(fallbacks, [{ from: { id: 'p:main' }, to: { id: 'p:spare' }, error: { code } }])
  })
}

t.test('no other model is asked where a filter has spoken, or where the fault is ours', async (t) => {
  for (const step of [fails('content_filtered'), fails('invalid_request'), [{ throw: new Error('a bug') }]]) {
    const spare = model('p:spare', ['ok'])
    t.ok((await hear(callWithFallback([model('p:main', step), spare], request, options()))).error)
    t.equal(spare.requests.length, 0)
  }
})

t.test('models are asked in their order, and the first one\'s error tells how it ended', async (t) => {
  const models = [model('p:a', fails('configuration_error')), model('p:b', fails('rate_limited')), model('p:c', fails('context_overflow'))] as const
  const asked: string[] = []
  const { error } = await hear(callWithFallback(models, request, options({ onFallback: ({ to }) => asked.push(to.id) })))
  t.strictSame(asked, ['p:b', 'p:c'])
  t.match(error, { code: 'configuration_error' })
  const filtered = await hear(callWithFallback([models[0], model('p:d', fails('content_filtered'))], request, options()))
  t.match(filtered.error, { code: 'content_filtered' }, 'except where a filter has spoken')
})

t.test('no other model goes on with an answer that has begun, be it with a thought or a call', async (t) => {
  const begun: ModelEvent[] = [{ type: 'text-delta', delta: 'Hel' }, { type: 'reasoning-delta', delta: 'hm' }, { type: 'tool-call-start', callId: 'c', toolName: 'x' }]
  for (const event of begun) {
    const spare = model('p:spare', ['ok'])
    const { events, error } = await hear(callWithFallback([model('p:main', [event, ...fails('provider_unavailable')]), spare], request, options()))
    t.strictSame(events, [event])
    t.match(error, { code: 'provider_unavailable' })
    t.equal(spare.requests.length, 0)
  }
})

t.test('what a failed call has used is told before the next model is asked', async (t) => {
  const usage = { type: 'usage', usage: { input: 3, output: 0, reasoning: 0, cachedRead: 0, cacheWrite: 0 }, estimated: false } as const
  const seen: string[] = []
  const stream = callWithFallback([model('p:main', [usage, ...fails('provider_unavailable')]), model('p:spare', ['ok'])], request, options({ onFallback: () => seen.push('fallback') }))
  for await (const batch of stream) seen.push(...batch.map(({ type }) => type))
  t.strictSame(seen, ['usage', 'fallback', 'text-delta', 'usage', 'finish'])
  t.equal(eventsOf((await hear(callWithFallback([model('p:main', [usage, ...fails('provider_unavailable')])], request, options()))).events, 'usage').length, 1)
})

t.test('a stop is no reason to ask another model', async (t) => {
  const controller = new AbortController()
  const reason = new AppError('provider_timeout', 'the run took too long')
  const spare = model('p:spare', ['ok'])
  setTimeout(() => { controller.abort(reason) }, 20)
  t.equal((await hear(callWithFallback([model('p:main', [{ hang: true }]), spare], request, options({ signal: controller.signal })))).error, reason)
  t.equal(spare.requests.length, 0)
})

t.test('a reader that leaves closes the model that is being asked, and no listener stays', async (t) => {
  const { signal } = new AbortController()
  const spare = model('p:spare', ['a', 'b', { hang: true }])
  for await (const batch of callWithFallback([model('p:main', fails('configuration_error')), spare], request, options({ signal }))) {
    if (textOf(batch) === 'b') break
  }
  t.equal(spare.closed(), 1)
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

function options (more: Partial<FallbackOptions> = {}): FallbackOptions {
  return { signal: new AbortController().signal, sleep: async () => {}, timeouts: { firstTokenMs: 5_000, idleMs: 5_000 }, ...more }
}
