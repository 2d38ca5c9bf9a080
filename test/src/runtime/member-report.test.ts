import t from 'tap'
import type { ModelMessage } from '../../../src/models/model.ts'
import { digestOf, fairShares, reportOf } from '../../../src/runtime/member-report.ts'

const called = (toolName: string, content: string): ModelMessage[] => [
  { role: 'assistant', text: '', toolCalls: [{ callId: toolName, toolName, arguments: '{"q":1}' }] },
  { role: 'tool', callId: toolName, toolName, content }
]

t.test('shares are equal, and what one does not need goes to the others', async (t) => {
  t.strictSame(fairShares([10, 10], 100), [10, 10])
  t.strictSame(fairShares([1_000, 10, 1_000], 110), [50, 10, 50])
  t.strictSame(fairShares([1_000, 1_000, 1_000], 90), [30, 30, 30])
  t.strictSame(fairShares([], 90), [])
})

t.test('a digest says that it is partial, stays within its limit, and no long result empties the others', async (t) => {
  const digest = digestOf([...called('long', 'x'.repeat(50_000)), ...called('short', 'the whole of it'), ...called('other', 'y'.repeat(50_000))], 6_000)
  t.ok(digest.length <= 6_000 && digest.length > 5_900, `${digest.length} characters`)
  t.match(digest, /^No report was finished\. What follows is partial/)
  t.match(digest, /short:\nthe whole of it\n/)
  t.ok(/x+/.exec(digest)![0].length > 2_500 && /y+/.exec(digest)![0].length > 2_500)
  t.match(digest, /\n\nSources consulted:\n- long\(\{"q":1\}\)\n- short\(.*\)\n- other\(.*\)$/)
  t.match(digestOf(called('long', 'x'.repeat(50_000)), 0), 'x'.repeat(50_000), '0 is no limit')
  t.match(digestOf([], 6_000), 'There were no results.')
})

t.test('a report ends with the calls it rests on, without their results', async (t) => {
  t.equal(reportOf(' Blue. ', called('look', 'secret')), 'Blue.\n\nSources consulted:\n- look({"q":1})')
  t.equal(reportOf('Blue.', []), 'Blue.\n\nSources consulted:\nnone')
})
