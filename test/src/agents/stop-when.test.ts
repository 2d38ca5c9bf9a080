import t from 'tap'
import { costExceeds, durationExceeds, hasToolCall, stepCountIs, totalTokensExceed, type StopCondition, type StopFacts } from '../../../src/agents/stop-when.ts'
import { noUsage } from '../../../src/events/usage.ts'

const facts: StopFacts = { step: 3, calls: [{ toolName: 'submit', input: {} }], calledTools: new Set(['find', 'submit']), usage: { ...noUsage, input: 60, output: 40 }, costUsd: 0.5, durationMs: 1_000, messages: [] }

const cases: ReadonlyArray<{ name: string, holds: StopCondition, not: StopCondition }> = [
  { name: 'stepCountIs counts steps', holds: stepCountIs(3), not: stepCountIs(4) },
  { name: 'stepCountIs holds on after a step it missed', holds: stepCountIs(2), not: stepCountIs(4) },
  { name: 'hasToolCall looks at the step that ended', holds: hasToolCall('submit'), not: hasToolCall('find') },
  { name: 'totalTokensExceed adds input and output', holds: totalTokensExceed(99), not: totalTokensExceed(100) },
  { name: 'costExceeds compares dollars', holds: costExceeds(0.49), not: costExceeds(0.5) },
  { name: 'durationExceeds compares milliseconds', holds: durationExceeds(999), not: durationExceeds(1_000) }
]

for (const { name, holds, not } of cases) {
  t.test(name, async (t) => {
    t.equal(holds(facts), true)
    t.equal(not(facts), false)
  })
}

t.test('a cost that is not known exceeds nothing', async (t) => { t.equal(costExceeds(0)({ ...facts, costUsd: undefined }), false) })
