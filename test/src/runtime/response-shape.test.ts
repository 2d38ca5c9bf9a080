import t from 'tap'
import { readResponse, responseShape } from '../../../src/runtime/response-shape.ts'

const object = responseShape({ type: 'object' }, 'responseFormat')!

const answers: readonly { name: string, text: string, value: unknown }[] = [
  { name: 'JSON', text: ' {"a":1}\n', value: { a: 1 } },
  { name: 'JSON in a fence', text: '\n```json\n{"a":1}\n```\n', value: { a: 1 } },
  { name: 'JSON in a fence without a name', text: '```{"a":"```"}```', value: { a: '```' } }
]

for (const { name, text, value } of answers) {
  t.test(`${name} is read`, async (t) => {
    t.strictSame(readResponse(text, object), { value })
  })
}

t.test('an answer that is a fence and blanks is refused at once', async (t) => {
  for (const text of ['```', '``````', `\`\`\`json${'\n'.repeat(500_000)}`, `\`\`\`json${' '.repeat(500_000)}{"a":1}${' '.repeat(500_000)}x`]) {
    const before = performance.now()
    t.equal(readResponse(text, object), undefined)
    t.ok(performance.now() - before < 1_000)
  }
})

t.test('a schema that takes too long to read is refused', async (t) => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, { type: 'string', pattern: `^a${i}$` }]))
  const before = performance.now()
  t.throws(() => responseShape({ type: 'object', properties }, 'responseFormat'), { code: 'invalid_request', details: { issues: [{ path: 'responseFormat' }] } })
  t.ok(performance.now() - before < 5_000)
})

t.test('a pattern that never ends on an answer holds nobody up, and the answer does not fit', async (t) => {
  const shape = responseShape({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, 'responseFormat')!
  t.strictSame(readResponse('{"a":"aaa"}', shape), { value: { a: 'aaa' } })
  const before = performance.now()
  t.equal(readResponse(`{"a":"${'a'.repeat(60)}!"}`, shape), undefined)
  t.ok(performance.now() - before < 2_000)
})
