import t from 'tap'
import { agentSchema, defineAgent } from '../../../src/agents/agent.ts'
import type { StopCondition, StopFacts } from '../../../src/agents/stop-when.ts'
import { noUsage } from '../../../src/events/usage.ts'
import { createLedger } from '../../../src/runtime/ledger.ts'
import { createRunState } from '../../../src/runtime/run-state.ts'
import { isToStop } from '../../../src/runtime/stop-when.ts'
import { recordingLog } from '../../helpers/memory-turns.ts'

const never: StopCondition = () => false
const call = { callId: 'c1', toolName: 'find', modelName: 'find', arguments: '{}', ok: false, input: { n: 1 }, problem: 'no' } as const

t.test('a run stops when one of the conditions holds, whatever the others say', async (t) => {
  const state = createRunState([])
  const ask = (...conditions: StopCondition[]) => isToStop(conditions, state, { calls: [call], log: recordingLog() })
  t.equal(await ask(), false)
  t.equal(await ask(never, never), false)
  t.equal(await ask(never, async () => true), true)
})

t.test('a condition sees the step, what it called, and what the run and its members have used', async (t) => {
  const ledger = createLedger()
  const state = createRunState([{ role: 'user', content: 'hi' }], { ledger })
  state.step = 4
  state.calledTools.add('find')
  ledger.below(undefined).book({ ...noUsage, input: 7 }, 0.25)
  let seen: StopFacts | undefined
  await isToStop([(facts) => { seen = facts; return false }], state, { calls: [call], log: recordingLog() })
  t.match(seen, { step: 4, calls: [{ toolName: 'find', input: { n: 1 } }], calledTools: new Set(['find']), usage: { input: 7 }, costUsd: 0.25, durationMs: Number, messages: [{ content: 'hi' }] })
  t.ok((seen?.durationMs ?? -1) >= 0)
})

t.test('a condition that fails is logged and does not hold', async (t) => {
  const log = recordingLog()
  const failing: StopCondition = () => { throw new Error('a bug') }
  t.equal(await isToStop([failing, never], createRunState([]), { calls: [], log }), false)
  t.match(log.lines, [{ level: 'error', fields: { err: { message: 'a bug' } } }])
})

t.test('an agent has one condition or a list of them', async (t) => {
  t.strictSame(defineAgent({ key: 'x' }).stopWhen, [])
  t.strictSame(defineAgent({ key: 'x', stopWhen: never }).stopWhen, [never])
  const base = defineAgent({ key: 'x', stopWhen: [never] })
  t.strictSame(defineAgent({ ...base, key: 'y' }).stopWhen, [never])
  t.notOk(agentSchema.safeParse({ key: 'x', stopWhen: ['later'] }).success)
})
