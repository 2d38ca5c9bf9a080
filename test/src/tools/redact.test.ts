import t from 'tap'
import { redactSecrets } from '../../../src/tools/redact.ts'

t.test('what is called a secret is left out, at any depth', async (t) => {
  t.strictSame(redactSecrets({ city: 'Rome', password: 'hunter2', list: [{ apiKey: 'x', api_key: 'y', accessToken: 'z', Authorization: { scheme: 'x' }, cookie: 'a=b' }], client_secret: 's' }), {
    city: 'Rome', password: '[redacted]', list: [{ apiKey: '[redacted]', api_key: '[redacted]', accessToken: '[redacted]', Authorization: '[redacted]', cookie: '[redacted]' }], client_secret: '[redacted]'
  })
})

t.test('numbers and words that only sound alike stay', async (t) => {
  const plain = { maxTokens: 200, token: 7, tokens: 'three', author: 'Ada', passage: 'x', keyboard: 'y', hotel: 'pk-hotel' }
  t.strictSame(redactSecrets(plain), plain)
})

for (const [name, text, kept] of [
  ['a key', 'use sk-proj-abcdefghijklmnop please', 'use [redacted] please'],
  ['a key of this service', 'parley_4vJabcdefghijkl', '[redacted]'],
  ['a header', 'curl -H "Authorization: Bearer abc.def" x', 'curl -H "Authorization: [redacted]" x'],
  ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln', '[redacted]'],
  ['credentials of an address', 'postgresql://user:pass@host:5432/db', 'postgresql://[redacted]@host:5432/db']
] as const) {
  t.test(`${name} inside of a text is left out`, async (t) => { t.strictSame(redactSecrets({ text: [text] }), { text: [kept] }) })
}

t.test('long texts are cut, what JSON cannot hold is replaced, a bare text is one', async (t) => {
  const { text } = redactSecrets({ text: 'x'.repeat(10_000) }) as { text: string }
  t.match(text, /^x{500}… \(10000 characters\)$/)
  const circular: Record<string, unknown> = { n: 1n }
  circular['self'] = circular
  t.strictSame(redactSecrets(circular), { n: '1', self: '[Circular]' })
  t.equal(redactSecrets('not json'), 'not json')
})
