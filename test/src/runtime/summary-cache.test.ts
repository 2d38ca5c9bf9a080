import t from 'tap'
import { createSummaryCache } from '../../../src/runtime/summary-cache.ts'

t.test('the least recently used summary goes first', async (t) => {
  const cache = createSummaryCache(2)
  cache.set('a', '1')
  cache.set('b', '2')
  t.equal(cache.get('a'), '1')
  cache.set('c', '3')
  t.strictSame(['a', 'b', 'c'].map((key) => cache.get(key)), ['1', undefined, '3'])
  cache.set('c', '4')
  t.strictSame(['a', 'c'].map((key) => cache.get(key)), ['1', '4'])
})
