import t from 'tap'
import { limitText, serialiseOutput, toJsonSafe } from '../../../src/tools/serialise.ts'

const circular: Record<string, unknown> = { name: 'loop' }
circular['self'] = circular
const shared = { n: 1 }

const cases: readonly { name: string, value: unknown, json: unknown }[] = [
  { name: 'undefined', value: undefined, json: null },
  { name: 'null', value: null, json: null },
  { name: 'zero, the empty string and false', value: [0, '', false], json: [0, '', false] },
  { name: 'numbers that JSON lacks', value: [NaN, Infinity], json: [null, null] },
  { name: 'a BigInt', value: { n: 12345678901234567890n }, json: { n: '12345678901234567890' } },
  { name: 'dates', value: [new Date(0), new Date(NaN)], json: ['1970-01-01T00:00:00.000Z', null] },
  { name: 'a Buffer', value: Buffer.from('hi'), json: '[2 bytes, base64] aGk=' },
  { name: 'an ArrayBuffer', value: new Uint8Array([1, 2]).buffer, json: '[2 bytes, base64] AQI=' },
  { name: 'a cycle', value: circular, json: { name: 'loop', self: '[Circular]' } },
  { name: 'one object in two places, which is no cycle', value: [shared, shared], json: [{ n: 1 }, { n: 1 }] },
  { name: 'functions and symbols', value: [function go () {}, Symbol('s')], json: ['[Function go]', '[Symbol(s)]'] },
  { name: 'a Map and a Set', value: { map: new Map([['a', 1n]]), set: new Set([undefined, 2]) }, json: { map: { a: '1' }, set: [null, 2] } },
  { name: 'an Error, without its stack', value: new TypeError('no'), json: { name: 'TypeError', message: 'no' } },
  { name: 'a getter that throws', value: { a: 1, get b () { throw new Error('secret') } }, json: { a: 1, b: '[Unreadable]' } },
  { name: 'a toJSON', value: { toJSON: () => ({ x: 1 }) }, json: { x: 1 } },
  { name: 'a toJSON that throws', value: { toJSON () { throw new Error('secret') } }, json: '[Unreadable]' },
  { name: 'a proxy that throws', value: new Proxy({}, { ownKeys () { throw new Error('secret') } }), json: '[Unreadable]' },
  { name: 'undefined fields', value: { a: undefined, b: [undefined] }, json: { b: [null] } },
  { name: 'keys that reach a prototype', value: JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}},"a":1}'), json: { a: 1 } },
  { name: 'a harmless constructor key', value: { constructor: 'Ford' }, json: { constructor: 'Ford' } }
]

for (const { name, value, json } of cases) {
  t.test(`${name} can be stored`, async (t) => {
    t.strictSame(toJsonSafe(value), json)
    t.strictSame(JSON.parse(JSON.stringify(toJsonSafe(value))), json)
  })
}

t.test('what is nested without end is cut', async (t) => {
  let deep: unknown = 1
  for (let i = 0; i < 10_000; i++) deep = [deep]
  t.match(JSON.stringify(toJsonSafe(deep)), '[Too deep]')
})

t.test('a model reads strings as they are and everything else as JSON', async (t) => {
  t.equal(serialiseOutput('plain "text"'), 'plain "text"')
  t.equal(serialiseOutput({ a: 1n }), '{"a":"1"}')
  t.equal(serialiseOutput(undefined), 'null')
})

t.test('a long text keeps its head and says how long it was', async (t) => {
  t.equal(limitText('abcdef', 4), 'abcd\n[Cut: 6 characters in all, the first 4 kept]')
  t.equal(limitText('abcd', 4), 'abcd')
  t.equal(limitText('abcdef', 0), 'abcdef')
  t.equal(limitText('ab😀cd', 3), 'ab\n[Cut: 6 characters in all, the first 2 kept]')
})

t.test('what would grow without measure as a copy is cut, and soon', async (t) => {
  let doubled: unknown = { leaf: true }
  for (let i = 0; i < 40; i++) doubled = { a: doubled, b: doubled }
  const text = 'x'.repeat(10_000_000)
  const many: readonly (readonly [name: string, value: unknown])[] = [
    ['one object twice on every level', doubled],
    ['a list of holes', new Array(4_000_000_000)],
    ['a long text often', Array.from({ length: 1_000 }, () => text)],
    ['many bytes often', Array.from({ length: 1_000 }, () => new Uint8Array(10_000_000))]
  ]
  for (const [name, value] of many) {
    const before = performance.now()
    const json = JSON.stringify(toJsonSafe(value))
    t.ok(performance.now() - before < 10_000, name)
    t.ok(json.length < 100_000_000, name)
    t.match(json, '[Too large]', name)
  }
})

t.test('what is merely large stays whole', async (t) => {
  const rows = Array.from({ length: 200_000 }, (_, i) => ({ i, s: 'abc' }))
  t.equal(JSON.stringify(toJsonSafe(rows)), JSON.stringify(rows))
})
