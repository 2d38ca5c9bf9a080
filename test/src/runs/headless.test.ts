import t from 'tap'
import type { RunEventBody } from '../../../src/events/run-event.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { drainRun } from '../../../src/runs/headless.ts'

t.test('the usage of a drained run is that of its members too, and its text is its own', async (t) => {
  const agentPath = [{ agentId: 'a', name: 'member', toolCallId: 'c' }]
  const usage = (input: number, more: object = {}): RunEventBody => ({ type: 'usage', model: 'p:m', buckets: { ...noUsage, input }, ...more })
  const events: RunEventBody[] = [
    { type: 'step-start', step: 1 }, usage(3), usage(4, { agentPath }), { type: 'text-delta', blockId: 'm', delta: 'not this', agentPath },
    { type: 'text-delta', blockId: 'b', delta: 'this' }, { type: 'message-end', finishReason: 'stop', usage: noUsage }, { type: 'run-completed' }
  ]
  t.match(await drainRun((async function * () { yield events })(), { allSteps: false }), { text: 'this', usage: { input: 7 } })
})
