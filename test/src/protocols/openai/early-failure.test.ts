import t from 'tap'
import type { RunEvent, RunEventBody } from '../../../../src/events/run-event.ts'
import { refuseEarlyFailure } from '../../../../src/protocols/openai/early-failure.ts'
import type { BatchStream } from '../../../../src/streams/batch.ts'
import { stamped, started } from '../../../helpers/run-events.ts'

const begun: RunEventBody[] = [started, { type: 'step-start', step: 1 }]
const failed: RunEventBody = { type: 'run-failed', code: 'rate_limited', message: 'Too many.', retryable: true, ref: 'ffffffff' }
const never = new AbortController().signal

t.test('a run that fails before it did anything throws its failure', async (t) => {
  const { source, closed } = watched([begun, [failed]])
  await t.rejects(refuseEarlyFailure(source, never), { code: 'rate_limited', message: 'Too many.' })
  t.ok(closed())
})

t.test('a run that has said something is passed on whole, with its failure', async (t) => {
  const batches: RunEventBody[][] = [begun, [{ type: 'text-start', blockId: 'b' }], [{ type: 'text-delta', blockId: 'b', delta: 'x' }, failed]]
  const { source, closed } = watched(batches)
  const types: string[] = []
  for await (const batch of await refuseEarlyFailure(source, never)) types.push(...batch.map(({ type }) => type))
  t.strictSame(types, batches.flat().map(({ type }) => type))
  t.ok(closed())
})

t.test('leaving early closes the source', async (t) => {
  const { source, closed } = watched([begun, [{ type: 'text-start', blockId: 'b' }], [failed]])
  for await (const batch of await refuseEarlyFailure(source, never)) if (batch.length > 0) break
  t.ok(closed())
})

t.test('an abort closes the source of a stream that nobody began to read', async (t) => {
  const { source, closed } = watched([begun, [{ type: 'text-start', blockId: 'b' }], [failed]])
  const controller = new AbortController()
  await refuseEarlyFailure(source, controller.signal)
  t.notOk(closed())
  controller.abort()
  await new Promise((resolve) => { setImmediate(resolve) })
  t.ok(closed())
})

t.test('an error of the source is passed on', async (t) => {
  async function * broken (): AsyncGenerator<RunEvent[], void> { throw new Error('the log went away') }
  await t.rejects(refuseEarlyFailure(broken(), never), /went away/)
})

function watched (batches: readonly RunEventBody[][]): { source: BatchStream<RunEvent>, closed: () => boolean } {
  let closed = false
  async function * source () {
    try {
      for (const batch of batches) yield stamped(batch)
    } finally {
      closed = true
    }
  }
  return { source: source(), closed: () => closed }
}
