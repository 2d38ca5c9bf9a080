import t from 'tap'
import { checkOrder } from '../../../src/events/order.ts'
import { ended, stamped, started } from '../../helpers/run-events.ts'
import type { RunEventBody } from '../../../src/events/run-event.ts'

const completed: RunEventBody = { type: 'run-completed' }
const stopped: RunEventBody = { type: 'run-stopped', reason: 'user' }
const step = (n: number): RunEventBody => ({ type: 'step-start', step: n })
const stepEnd = (n: number): RunEventBody => ({ type: 'step-end', step: n })
const open: RunEventBody = { type: 'text-start', blockId: 'b' }
const delta: RunEventBody = { type: 'text-delta', blockId: 'b', delta: 'x' }
const close: RunEventBody = { type: 'text-end', blockId: 'b' }
const call: RunEventBody = { type: 'tool-call-start', callId: 'c', toolName: 'x' }
const input: RunEventBody = { type: 'tool-input-complete', callId: 'c', toolName: 'x', input: {} }
const invalid: RunEventBody = { type: 'tool-input-invalid', callId: 'c', toolName: 'x', input: '', message: 'm' }
const output: RunEventBody = { type: 'tool-output', callId: 'c', output: 1 }

const right: Record<string, RunEventBody[]> = {
  'a whole run': [started, step(1), open, delta, close, call, { type: 'tool-input-delta', callId: 'c', delta: '{}' }, input, { ...output, preliminary: true } as RunEventBody, output, stepEnd(1), ended(), completed],
  'a step broken off by a stop': [started, step(1), open, close, stopped],
  'an invalid call, which is its own answer': [started, step(1), call, invalid, stepEnd(1), completed],
  'calls a suspended run waits for': [started, step(1), call, input, stepEnd(1), { type: 'run-suspended', approvals: [], pendingCalls: ['c'] }],
  'an approval a suspended run waits for': [started, step(1), call, input, { type: 'approval-requested', approvalId: 'a', callId: 'c', expiresAt: '' }, stepEnd(1), { type: 'run-suspended', approvals: ['a'], pendingCalls: [] }],
  'results of calls of an earlier leg': [{ ...started, continued: true } as RunEventBody, output, step(2), stepEnd(2), completed],
  'a snapshot in place of a beginning': [started, { type: 'snapshot', parts: [] }, delta, close, output, stepEnd(3), completed],
  'steps of a member inside a step': [started, step(1), { ...step(1), agentPath: [{ agentId: 'a', name: 'm', toolCallId: 'c' }] } as RunEventBody, { ...stepEnd(1), agentPath: [{ agentId: 'a', name: 'm', toolCallId: 'c' }] } as RunEventBody, stepEnd(1), completed]
}

const wrong: Record<string, { events: RunEventBody[], fault: RegExp }> = {
  'nothing at all': { events: [], fault: /no terminal event/ },
  'no beginning': { events: [completed], fault: /run-completed before message-start/ },
  'two beginnings': { events: [started, started, completed], fault: /message-start twice/ },
  'no end': { events: [started], fault: /no terminal event/ },
  'two ends': { events: [started, completed, completed], fault: /after the terminal event/ },
  'an event after the end': { events: [started, completed, { type: 'title', title: 'x' }], fault: /title after the terminal/ },
  'a delta without a block': { events: [started, delta, completed], fault: /block b, which is not open/ },
  'a delta after its block': { events: [started, open, close, delta, completed], fault: /block b, which is not open/ },
  'a block used twice': { events: [started, open, close, open, close, completed], fault: /block b started twice/ },
  'a delta of another kind': { events: [started, open, { type: 'reasoning-delta', blockId: 'b', delta: 'x' }, close, completed], fault: /which is text/ },
  'a block over the end of its step': { events: [started, step(1), open, stepEnd(1), close, completed], fault: /open at the end of step 1/ },
  'a block over the end of the run': { events: [started, open, stopped], fault: /block b is open at the end of the run/ },
  'a step in a step': { events: [started, step(1), step(2), stepEnd(2), completed], fault: /inside step 1/ },
  'the end of another step': { events: [started, step(1), stepEnd(2), completed], fault: /step 2 ended without/ },
  'an open step of a completed run': { events: [started, step(1), completed], fault: /step 1 is open/ },
  'input before its call': { events: [started, input, completed], fault: /which was not started/ },
  'output before input': { events: [started, call, output, completed], fault: /which is started/ },
  'input twice': { events: [started, call, input, input, output, completed], fault: /which is input/ },
  'two results': { events: [started, call, input, output, output, completed], fault: /which is answered/ },
  'a result after an invalid input': { events: [started, call, invalid, output, completed], fault: /which is answered/ },
  'no result': { events: [started, call, input, stopped], fault: /call c has no result/ },
  'a preliminary result only': { events: [started, call, input, { ...output, preliminary: true } as RunEventBody, completed], fault: /call c has no result/ },
  'a call id used twice': { events: [started, call, input, output, call, invalid, completed], fault: /started twice/ },
  'an unanswered call the suspension does not name': { events: [started, call, input, { type: 'run-suspended', approvals: [], pendingCalls: [] }], fault: /call c has no result/ }
}

for (const [name, events] of Object.entries(right)) t.test(`${name} is in order`, async (t) => { t.strictSame(checkOrder(events), []) })

for (const [name, { events, fault }] of Object.entries(wrong)) {
  t.test(`${name} is out of order`, async (t) => { t.match(checkOrder(events).join('\n'), fault) })
}

t.test('numbers have no holes but where deltas were merged', async (t) => {
  const events = stamped([started, open, delta, delta, close, completed])
  t.strictSame(checkOrder(events), [])
  t.strictSame(checkOrder(events.filter(({ seq }) => seq !== 2)), [])
  t.match(checkOrder(events.filter(({ seq }) => seq !== 1)).join(), /which is not open/)
  t.match(checkOrder([started, completed].map((event, i) => ({ ...event, seq: i * 2, at: '' }))), ['seq 2 after 0'])
})
