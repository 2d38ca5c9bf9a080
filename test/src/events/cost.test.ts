import t from 'tap'
import { addCost, totalCost } from '../../../src/events/cost.ts'

t.test('a sum is known only where all of it is', async (t) => {
  t.equal(addCost(0.1, 0.2), 0.3, 'as the decimal it is')
  t.equal(addCost(0.1, undefined), undefined)
  t.equal(addCost(undefined, 0), undefined)
  t.equal(totalCost([0.1, 0.2, 0]), 0.3)
  t.equal(totalCost([0.1, undefined, 0.2]), undefined)
  t.equal(totalCost([]), undefined, 'nobody was asked, so nobody knows')
})
