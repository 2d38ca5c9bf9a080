import t from 'tap'
import { checkOrder } from '../../../src/events/order.ts'
import { z } from 'zod'
import { unaffordable } from '../../../src/runtime/budget-end.ts'
import { leastOf, withAnswer } from '../../../src/runtime/call-estimate.ts'
import { createInputGauge } from '../../../src/runtime/input-gauge.ts'
import { checkCall } from '../../../src/runtime/checked-call.ts'
import { budgetNotice } from '../../../src/runtime/notices.ts'
import { createRunState } from '../../../src/runtime/run-state.ts'
import { assembleTools } from '../../../src/runtime/toolset.ts'
import { defineTool } from '../../../src/tools/tool.ts'
import { alice } from '../../contracts/turns.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'
import { started } from '../../helpers/run-events.ts'
import { request } from './stepping.ts'

const echo = defineTool({ name: 'echo', input: z.object({ text: z.string() }), execute: () => { throw new Error('must not run') } })

t.test('calls that the budget has no room for are all answered, by what tells the model to answer', async (t) => {
  const { toolset } = await assembleTools({ tools: [echo], crew: () => ({ tools: [], roster: [] }) }, { principal: alice, threadId: undefined, runId: 'r', metadata: {}, signal: new AbortController().signal }, recordingLog())
  const calls = [['c1', '{"text":"x"}'], ['c2', '{"text":7}']].map(([callId = '', args = '']) => checkCall({ callId, modelName: 'echo', arguments: args, complete: true }, toolset))
  const { events, results } = unaffordable(calls)
  t.match(events, [{ type: 'tool-error', callId: 'c1', code: 'quota_exceeded', message: /budget of this run is used up.*Answer now/ }])
  t.match(results, [{ content: /Answer now/, ran: false }, { content: /do not fit/, ran: false }])
  t.strictSame(checkOrder([
    started, { type: 'step-start', step: 1 },
    { type: 'tool-call-start', callId: 'c1', toolName: 'echo' }, { type: 'tool-input-complete', callId: 'c1', toolName: 'echo', input: {} },
    { type: 'tool-call-start', callId: 'c2', toolName: 'echo' }, { type: 'tool-input-invalid', callId: 'c2', toolName: 'echo', input: {}, message: '' },
    ...events, { type: 'step-end', step: 1 }, ...budgetNotice({ path: [], state: { ...createRunState([]), step: 1 } }), { type: 'run-completed' }
  ]), [])
})

t.test('a call takes its input at least, at its model\'s price', async (t) => {
  const call = leastOf({ prices: { input: 1_000_000, output: 1 } }, request, createInputGauge())
  t.strictSame(call, { tokens: 8, costUsd: 8 })
  t.strictSame(leastOf({}, request, createInputGauge()), { tokens: 8, costUsd: undefined })
  t.strictSame(withAnswer(call), { tokens: 16, costUsd: 16 })
  t.strictSame(withAnswer({ tokens: 8, costUsd: undefined }), { tokens: 16, costUsd: undefined })
})
