import t from 'tap'
import { noUsage } from '../../../src/events/usage.ts'
import { createLedger, type CallEstimate } from '../../../src/runtime/ledger.ts'

const tokens = (count: number): CallEstimate => ({ tokens: count, costUsd: undefined })
const costing = (costUsd: number): CallEstimate => ({ tokens: 0, costUsd })
const used = (input: number, output = 0) => ({ ...noUsage, input, output })

t.test('a run without a budget may spend what it likes, and knows what it spent', async (t) => {
  const ledger = createLedger()
  ledger.book(used(10, 5), 0.1)
  ledger.book(used(20), 0.2)
  t.match(ledger.spent(), { usage: { input: 30, output: 5 }, costUsd: 0.3 })
  t.ok(ledger.allows(tokens(1e12)))
})

t.test('a call is allowed as long as it fits into what is left, to the last token', async (t) => {
  const ledger = createLedger({ tokens: 100 })
  ledger.book(used(40, 30), undefined)
  t.ok(ledger.allows(tokens(30)))
  t.notOk(ledger.allows(tokens(31)))
})

t.test('a budget in dollars binds to the cent, and by the calls whose price is known', async (t) => {
  const ledger = createLedger({ costUsd: 0.3 })
  ledger.book(used(1), 0.1)
  t.ok(ledger.allows(costing(0.2)), 'tenths add up as they do on paper')
  t.notOk(ledger.allows(costing(0.2000001)))
  ledger.book(used(1_000_000), undefined)
  t.ok(ledger.allows(costing(0.2)))
  t.ok(ledger.allows(tokens(1_000_000)), 'what costs nobody knows what is not held against it')
  t.equal(ledger.spent().costUsd, undefined)
})

t.test('both budgets of an agent bind', async (t) => {
  const ledger = createLedger({ tokens: 100, costUsd: 1 })
  t.notOk(ledger.allows({ tokens: 101, costUsd: 0.1 }))
  t.notOk(ledger.allows({ tokens: 10, costUsd: 1.1 }))
  t.ok(ledger.allows({ tokens: 100, costUsd: 1 }))
})

t.test('what a member spends counts above it, its own budget binds it alone, and the root\'s binds everybody', async (t) => {
  const root = createLedger({ tokens: 100 })
  const first = root.below({ tokens: 20 })
  const second = root.below(undefined)
  const deep = second.below({ tokens: 1_000 })

  first.book(used(15), undefined)
  t.notOk(first.allows(tokens(6)))
  t.ok(second.allows(tokens(85)))
  deep.book(used(80), undefined)
  t.match([root, first, second, deep].map((ledger) => ledger.spent().usage.input), [95, 15, 80, 80])
  for (const ledger of [root, second, deep]) t.notOk(ledger.allows(tokens(6)), 'the root has 5 left')
  t.ok(first.allows(tokens(5)))
})

t.test('calls made side by side do not count on the same rest of a budget', async (t) => {
  const root = createLedger({ tokens: 100, costUsd: 1 })
  const members = Array.from({ length: 5 }, () => root.below(undefined))
  const reserved = members.map((member) => member.reserve({ tokens: 30, costUsd: 0.2 }))
  t.strictSame(reserved.map((reservation) => reservation !== undefined), [true, true, true, false, false])
  for (const reservation of reserved) {
    reservation?.release()
    reservation?.release()
  }
  t.ok(root.allows({ tokens: 100, costUsd: 1 }), 'released once, however often it is said')
  t.notOk(root.allows({ tokens: 101, costUsd: 1 }))
})

t.test('what was spent before a run was suspended counts when it goes on', async (t) => {
  const root = createLedger({ tokens: 100, costUsd: 1 }, { usage: used(60), costUsd: 0.5 })
  t.notOk(root.allows(tokens(41)))
  t.notOk(root.allows(costing(0.51)))
  const member = root.below({ tokens: 30 }, { usage: used(20), costUsd: 0.25 })
  t.notOk(member.allows(tokens(11)))
  member.book(used(5), 0.1)
  t.match([root, member].map((ledger) => ledger.spent()), [{ usage: { input: 65 }, costUsd: 0.6 }, { usage: { input: 25 }, costUsd: 0.35 }])
})

t.test('a call that is refused sets nothing aside', async (t) => {
  const root = createLedger({ tokens: 100 })
  t.equal(root.below({ tokens: 10 }).reserve(tokens(50)), undefined)
  t.ok(root.allows(tokens(100)))
})
