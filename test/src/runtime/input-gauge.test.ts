import t from 'tap'
import { estimateInput } from '../../../src/models/estimate.ts'
import { createInputGauge } from '../../../src/runtime/input-gauge.ts'
import type { ModelRequest } from '../../../src/models/model.ts'

function request (characters: number): ModelRequest {
  return { instructions: '', messages: [{ role: 'user', content: 'x'.repeat(characters) }], tools: [], toolChoice: 'auto', settings: {} }
}

t.test('a request is estimated until its provider has counted one', async (t) => {
  const gauge = createInputGauge()
  t.equal(gauge.measure(request(4_000)), estimateInput(request(4_000)))
  gauge.learn(request(4_000), 1_500)
  t.equal(gauge.measure(request(4_000)), 1_500)
})

t.test('what was added since is estimated as densely as the rest was', async (t) => {
  const gauge = createInputGauge()
  gauge.learn(request(4_000), 1_506) // 1.5 tokens for each that was estimated
  t.equal(gauge.measure(request(4_400)), 1_656)
  t.equal(gauge.measure(request(2_000)), 756)
})

t.test('what a provider adds that we do not see is not multiplied', async (t) => {
  const gauge = createInputGauge()
  gauge.learn(request(0), 10_000)
  t.equal(gauge.measure(request(400)), 10_200)
})

t.test('no count makes a request vanish', async (t) => {
  const gauge = createInputGauge()
  gauge.learn(request(4_000), 1)
  t.ok(gauge.measure(request(4_000)) >= 500)
  gauge.learn(request(4_000), 0)
  t.ok(gauge.measure(request(4_000)) >= 500)
})
