import t from 'tap'
import { createGrowingText } from '../../../src/streams/growing-text.ts'

t.test('it is all its pieces in order, whenever it is read', async (t) => {
  const text = createGrowingText()
  t.equal(text.toString(), '')
  let expected = ''
  for (let i = 0; i < 2_000; i++) {
    text.add(`${i};`)
    expected += `${i};`
    if (i % 700 === 0) t.equal(text.toString(), expected)
  }
  t.equal(text.toString(), expected)
})
