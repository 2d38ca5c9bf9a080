import t from 'tap'
import { createSubagentFrame } from '../../../src/runtime/subagent-frame.ts'

const text = (delta: string) => ({ type: 'text-delta', blockId: 'b', delta }) as const

t.test('what a member says is told whole each time, four times a second at most, and less often when it is long', async (t) => {
  let now = 1_000
  const frame = createSubagentFrame({ frameId: 'd1', name: 'Researcher', now: () => now })
  t.strictSame(frame.start(), { type: 'subagent-start', frameId: 'd1', name: 'Researcher', status: 'running', text: '', reasoning: '' })
  t.match(frame.observe(text('One')), { type: 'subagent-update', frameId: 'd1', text: 'One' }, 'the first word at once')
  now += 249
  t.equal(frame.observe(text(' two')), undefined)
  now += 2
  t.match(frame.observe(text(' three')), { text: 'One two three' })
  now += 251
  t.match(frame.observe(text('x'.repeat(100_000))), { type: 'subagent-update' })
  now += 1_000
  t.equal(frame.observe(text('y')), undefined, 'a second of pause for 100,000 characters, and a quarter')
  now += 300
  t.match(frame.observe(text('z')), { text: /xyz$/ })
  frame.observe(text('end'))
  t.match(frame.end('completed'), { type: 'subagent-end', frameId: 'd1', status: 'completed', text: /xyzend$/ }, 'and all of it at the end')
})

t.test('blocks of a member are paragraphs, and calls are not what it says', async (t) => {
  const frame = createSubagentFrame({ frameId: 'd1', name: 'Researcher', now: () => 0 })
  for (const event of [text('One'), { type: 'text-start', blockId: 'c' }, text('two'), { type: 'reasoning-delta', blockId: 'r', delta: 'hm' }] as const) frame.observe(event)
  t.equal(frame.observe({ type: 'tool-call-start', callId: 'c1', toolName: 'look' }), undefined)
  t.match(frame.end('stopped'), { status: 'stopped', text: 'One\n\ntwo', reasoning: 'hm' })
})
