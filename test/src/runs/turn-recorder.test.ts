import t, { type Test } from 'tap'
import { RunStopped } from '../../../src/errors.ts'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { createCheckpointer } from '../../../src/runs/checkpointer.ts'
import { createTurnRecorder, type TurnRecorderOptions } from '../../../src/runs/turn-recorder.ts'
import { until } from '../../helpers/app.ts'
import { recordingLog, savingTurns } from '../../helpers/memory-turns.ts'
import { started } from '../../helpers/run-events.ts'

const failure = { code: 'provider_unavailable', message: 'Broken.', retryable: true, ref: 'ffffffff' } as const
const spoken: RunEventBody[] = [{ type: 'step-start', step: 1 }, { type: 'text-start', blockId: 'b' }, { type: 'text-delta', blockId: 'b', delta: 'Hello' }]
const closing: RunEventBody[] = [{ type: 'text-end', blockId: 'b' }]
const ending: RunEventBody[] = [{ type: 'message-end', finishReason: 'stop', usage: noUsage }, { type: 'run-completed' }]

t.test('what is said is saved while it is said, and passed on as it is', async (t) => {
  const { recorder, transactions } = create(t)
  const batch = [started, ...spoken]
  t.equal(await recorder.record(batch), batch)
  await until('saved', () => transactions.length > 0)
  t.match(transactions[0], [{ runId: 'run-1', messageId: 'answer-1', parts: [{ type: 'step-start' }, { type: 'text', text: 'Hello', state: 'streaming' }] }])
})

const ends: Array<{ end: RunEventBody[], status: string, finishReason: string, errorCode?: string }> = [
  { end: ending, status: 'completed', finishReason: 'stop' },
  { end: [{ type: 'run-suspended', approvals: [], pendingCalls: ['c'] }], status: 'suspended', finishReason: 'tool-calls' },
  { end: [{ type: 'run-stopped', reason: 'user' }], status: 'stopped', finishReason: 'other' },
  { end: [{ type: 'run-failed', ...failure }], status: 'failed', finishReason: 'error', errorCode: 'provider_unavailable' },
  { end: [{ type: 'run-interrupted', ...failure }], status: 'interrupted', finishReason: 'error', errorCode: 'provider_unavailable' }
]

for (const { end, status, finishReason, errorCode } of ends) {
  t.test(`a run that is ${status} is stored before anyone sees its end`, async (t) => {
    const { recorder, ends } = create(t)
    await recorder.record([started, ...spoken])
    t.strictSame(ends, [])
    const last = [...closing, ...end]
    const visible = recorder.record(last)
    t.equal(await visible, last)
    t.match(ends, [{ runStatus: status, messageStatus: status, finishReason, errorCode, discardMessage: false, parts: [{ type: 'step-start' }, { text: 'Hello', state: 'done' }] }])
  })
}

t.test('usage is summed for the message and kept by model and member', async (t) => {
  const { recorder, ends } = create(t)
  const usage = (input: number, more: object = {}): RunEventBody => ({ type: 'usage', model: 'test:model', buckets: { ...noUsage, input }, ...more })
  const agentPath = [{ agentId: 'a', name: 'member', toolCallId: 'c' }]
  await recorder.record([started, ...spoken, usage(3), usage(4, { agentPath, estimated: true, costUsd: 0.5 }), ...closing, ...ending])
  t.match(ends[0], {
    usage: { input: 7 },
    usageRecords: [
      { agentPath: '', model: 'test:model', usage: { input: 3 }, costUsd: undefined, estimated: false },
      { agentPath: 'member', usage: { input: 4 }, costUsd: 0.5, estimated: true }
    ]
  })
})

t.test('what a message cost is known where the price of every call is', async (t) => {
  const cost = async (...costs: Array<number | undefined>) => {
    const { recorder, ends } = create(t)
    await recorder.record([started, ...costs.map((costUsd): RunEventBody => ({ type: 'usage', model: 'test:model', buckets: noUsage, ...(costUsd === undefined ? {} : { costUsd }) })), ...ending])
    return ends[0]?.costUsd
  }
  t.equal(await cost(0.1, 0.2), 0.3)
  t.equal(await cost(0.1, undefined), undefined)
  t.equal(await cost(), undefined)
})

t.test('how long a message was worked on is stored with its end, and saved while it runs with what earlier runs took', async (t) => {
  const { recorder, transactions, ends } = create(t, {}, { initialMs: 60_000 })
  await recorder.record([started, ...spoken])
  await until('saved', () => transactions.length > 0)
  const { processingMs = 0 } = transactions[0]?.[0] ?? {}
  t.ok(processingMs >= 60_000 && processingMs < 120_000 && Number.isInteger(processingMs), String(processingMs))
  await recorder.record([...closing, { type: 'run-stopped', reason: 'user', processingMs: 61_000 }])
  t.equal(ends[0]?.processingMs, 61_000)
})

t.test('a stopped message that says nothing is discarded, one that says or does something is not', async (t) => {
  const stopped: RunEventBody = { type: 'run-stopped', reason: 'user' }
  const silent = create(t)
  await silent.recorder.record([started, { type: 'step-start', step: 1 }, { type: 'text-start', blockId: 'b' }, ...closing, stopped])
  t.equal(silent.ends[0]?.discardMessage, true)
  const acting = create(t)
  await acting.recorder.record([started, { type: 'step-start', step: 1 }, { type: 'tool-call-start', callId: 'c', toolName: 'x' }, { type: 'tool-input-invalid', callId: 'c', toolName: 'x', input: {}, message: 'stopped' }, stopped])
  t.equal(acting.ends[0]?.discardMessage, false)
  const failed = create(t)
  await failed.recorder.record([started, { type: 'run-failed', ...failure }])
  t.equal(failed.ends[0]?.discardMessage, false)
})

t.test('a continued message keeps what it said', async (t) => {
  const { recorder, ends } = create(t, {}, { initialParts: [{ type: 'text', text: 'Before', state: 'done' }] })
  await recorder.record([started, ...spoken, ...closing, ...ending])
  t.match(ends[0]?.parts, [{ text: 'Before' }, { type: 'step-start' }, { text: 'Hello' }])
})

t.test('an end that cannot be stored at first is tried again', async (t) => {
  const { recorder, ends, log } = create(t, { failures: 2 })
  const last = [started, ...spoken, ...closing, ...ending]
  t.equal(await recorder.record(last), last)
  t.equal(ends.length, 1)
  t.equal(log.lines.filter(({ level }) => level === 'error').length, 2)
})

t.test('an end that cannot be stored fails the run, and what was open is closed all the same', async (t) => {
  const { recorder } = create(t, { failures: Infinity })
  const visible = await recorder.record([...closing, ...ending])
  t.match(visible, [{ type: 'text-end', blockId: 'b' }, { type: 'run-failed', code: 'storage_unavailable', retryable: true, ref: /^[0-9a-f]{8}$/ }])
  t.equal(visible.length, 2)
})

t.test('a run whose thread is gone says so at its end, and is stopped before', async (t) => {
  const { recorder, aborted } = create(t, { lost: ['run-1'] })
  await recorder.record([started, ...spoken])
  await until('stopped', () => aborted.length > 0)
  t.match(aborted, [new RunStopped('gone')])
  t.strictSame(await recorder.record([...closing, ...ending]), [...closing, { type: 'run-stopped', reason: 'the thread is gone' }])
})

t.test('a store that stays away fails the run while it runs', async (t) => {
  const { recorder, aborted } = create(t, { failures: Infinity })
  await recorder.record([started, ...spoken])
  await until('failed', () => aborted.length > 0)
  t.match(aborted, [{ code: 'storage_unavailable' }])
})

function create (t: Test, store: { failures?: number, lost?: readonly string[] } = {}, options: Partial<TurnRecorderOptions> = {}) {
  const log = recordingLog()
  const saving = savingTurns(store)
  const aborted: Error[] = []
  const checkpointer = createCheckpointer({ turns: saving.turns, holder: 'h', log, everyMs: 5, patienceMs: 20 })
  t.teardown(() => checkpointer.close())
  const recorder = createTurnRecorder({
    turns: saving.turns, checkpointer, holder: 'h', runId: 'run-1', messageId: 'answer-1', initialParts: [], log,
    suspension: () => undefined,
    abort: (reason) => { aborted.push(reason) },
    lost: () => new RunStopped('gone'),
    ...options
  })
  return { recorder, aborted, log, ...saving }
}
