import t from 'tap'
import { AppError, RunStopped, shuttingDown, storageUnavailable } from '../../../src/errors.ts'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { delay } from '../../../src/streams/abort.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { scriptedModel, toolCall, type ScriptStep } from '../../helpers/scripted-model.ts'
import { run } from './running.ts'

const stopped = new RunStopped('user')
const hang = { hang: true } as const

interface Case { readonly name: string, readonly script: ScriptStep[][], readonly at: RunEventBody['type'], readonly closing: object[] }

const cases: Case[] = [
  { name: 'before the first word', script: [[hang]], at: 'step-start', closing: [{ type: 'run-stopped', reason: 'user' }] },
  { name: 'in mid-text', script: [['Hel', hang]], at: 'text-delta', closing: [{ type: 'text-end' }, { type: 'run-stopped' }] },
  { name: 'in thought', script: [[{ type: 'reasoning-delta', delta: 'hm' }, hang]], at: 'reasoning-delta', closing: [{ type: 'reasoning-end' }, { type: 'run-stopped' }] },
  {
    name: 'in the middle of a call\'s arguments',
    script: [[{ type: 'tool-call-start', callId: 'c1', toolName: 'hang' }, { type: 'tool-input-delta', callId: 'c1', delta: '{"a":' }, hang]],
    at: 'tool-input-delta', closing: [{ type: 'tool-input-invalid', callId: 'c1', input: '{"a":', message: 'stopped' }, { type: 'run-stopped' }]
  },
  { name: 'in a tool that hangs', script: [toolCall('c1', 'hang')], at: 'tool-input-complete', closing: [{ type: 'tool-error', callId: 'c1', message: 'stopped' }, { type: 'run-stopped' }] }
]

for (const { name, script, at, closing } of cases) {
  for (const deaf of [false, true]) {
    t.test(`a run stopped ${name} ends at once, with all closed, ${deaf ? 'although its model and tool do not listen' : 'and its model with it'}`, async (t) => {
      const controller = new AbortController()
      const model = scriptedModel(script, { deaf })
      const tool = defineTool({ name: 'hang', input: { type: 'object' }, execute: (_input, { signal }) => deaf ? new Promise(() => {}) : delay(60_000, signal) })
      let abortedAt = 0
      const { events, of } = await run(t, {
        model, agent: { tools: [tool] }, signal: controller.signal,
        onEvent: ({ type }) => {
          if (type !== at || abortedAt !== 0) return
          setTimeout(() => {
            abortedAt = performance.now()
            controller.abort(stopped)
          }, 10)
        }
      })
      t.ok(performance.now() - abortedAt < 1_000)
      const shown = events.filter(({ type }) => type !== 'usage' && !type.startsWith('step-'))
      t.match(shown.slice(-closing.length), closing)
      t.equal(of('usage').length, 1, 'what was used is counted, also by a model that was asked and had not answered')
      if (!deaf) t.equal(model.closed(), 1)
    })
  }
}

t.test('usage that a stopped model did not tell is estimated and marked', async (t) => {
  const controller = new AbortController()
  const { of } = await run(t, {
    model: scriptedModel([['twelve chars', hang]]), signal: controller.signal,
    onEvent: ({ type }) => { if (type === 'text-delta') setTimeout(() => { controller.abort(stopped) }, 5) }
  })
  t.match(of('usage'), [{ estimated: true, buckets: { output: 3 } }])
})

t.test('a run that was stopped before it began says nothing', async (t) => {
  const model = scriptedModel([['Hello']])
  const { events } = await run(t, { model, signal: AbortSignal.abort(stopped) })
  t.strictSame(events.map(({ type }) => type), ['message-start', 'step-start', 'run-stopped'])
})

t.test('the reason of an abort is how the run ends', async (t) => {
  for (const [reason, end] of [
    [shuttingDown(), { type: 'run-interrupted', code: 'shutting_down' }],
    [storageUnavailable(new Error('gone')), { type: 'run-failed', code: 'storage_unavailable' }]
  ] as const) {
    const controller = new AbortController()
    const { events } = await run(t, {
      model: scriptedModel([['Hel', hang]]), signal: controller.signal,
      onEvent: ({ type }) => { if (type === 'text-delta') setTimeout(() => { controller.abort(reason) }, 5) }
    })
    t.match(events.slice(-2), [{ type: 'text-end' }, end])
  }
})

t.test('a run that takes too long fails, in the model and in a tool alike', async (t) => {
  const tool = defineTool({ name: 'hang', execute: () => new Promise(() => {}) })
  for (const script of [[['Hel', hang]], [toolCall('c1', 'hang')]]) {
    const { end } = await run(t, { model: scriptedModel(script), agent: { tools: [tool], timeouts: { totalMs: 30 } } })
    t.match(end, { type: 'run-failed', code: 'provider_timeout', retryable: true })
  }
})

t.test('a model call that fails before its first word is tried again, and the log says so', async (t) => {
  const model = scriptedModel([[{ throw: new AppError('provider_unavailable', 'Away.') }], ['Hello']])
  const { text, log } = await run(t, { model })
  t.equal(text, 'Hello')
  t.match(log.find(({ message }) => /tried again/.test(message)), { level: 'warn', fields: { attempt: 1, model: 'test:scripted' } })
})

t.test('a stateless run has no thread', async (t) => {
  const { events } = await run(t, { model: scriptedModel([['Hi']]), input: { threadId: undefined } })
  t.notOk('threadId' in (events[0] ?? {}))
})
