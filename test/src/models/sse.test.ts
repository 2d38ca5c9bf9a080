import t from 'tap'
import { createSseParser } from '../../../src/models/sse.ts'

const cases = [
  { name: 'plain events', wire: 'data: a\n\ndata: b\n\n', payloads: ['a', 'b'] },
  { name: 'no blank behind the colon', wire: 'data:a\n\n', payloads: ['a'] },
  { name: 'one blank is taken off and no more', wire: 'data:  a \n\n', payloads: [' a '] },
  { name: 'CRLF', wire: 'data: a\r\n\r\ndata: b\r\n\r\n', payloads: ['a', 'b'] },
  { name: 'CR', wire: 'data: a\r\rdata: b\r\r', payloads: ['a', 'b'] },
  { name: 'mixed line ends', wire: 'data: a\r\n\ndata: b\n\r\n', payloads: ['a', 'b'] },
  { name: 'comments', wire: ': ping\n\n:\ndata: a\n: inside\n\n: ping\r\n\r\n', payloads: ['a'] },
  { name: 'several data lines', wire: 'data: a\ndata: b\ndata\ndata: c\n\n', payloads: ['a\nb\n\nc'] },
  { name: 'other fields', wire: 'event: x\nid: 7\nretry: 1\ndatabase: no\ndata: a\n\nevent: y\n\n', payloads: ['a'] },
  { name: 'empty data', wire: 'data:\n\ndata: \n\ndata: a\n\n', payloads: ['a'] },
  { name: 'a byte order mark', wire: '\ufeffdata: a\n\n', payloads: ['a'] },
  { name: 'characters of one to four bytes', wire: 'data: é日😀\n\ndata: ü\n\n', payloads: ['é日😀', 'ü'] },
  { name: 'a stream that ends behind its last line', wire: 'data: a\n\ndata: b\n', payloads: ['a', 'b'] },
  { name: 'a stream that ends in its last line', wire: 'data: a\n\ndata: bü', payloads: ['a', 'bü'] }
]

for (const { name, wire, payloads } of cases) {
  t.test(`the parser reads ${name}, wherever the bytes are cut`, async (t) => {
    const bytes = new TextEncoder().encode(wire)
    t.strictSame(parse([bytes]), payloads, 'whole')
    t.strictSame(parse([...bytes].map((byte) => Uint8Array.of(byte))), payloads, 'byte by byte')
    for (let at = 1; at < bytes.length; at++) {
      t.strictSame(parse([bytes.subarray(0, at), bytes.subarray(at)]), payloads, `cut at ${at}`)
    }
  })
}

t.test('an event is given with the chunk that completes it', async (t) => {
  const parser = createSseParser()
  t.strictSame(parser.push(Buffer.from('data: a\n')), [])
  t.strictSame(parser.push(Buffer.from('\ndata: b\n\ndata: c\n\nda')), ['a', 'b', 'c'])
  t.strictSame(parser.push(Buffer.from('ta: d\n\n')), ['d'])
})

t.test('an event over the limit is refused, in one line or in many', async (t) => {
  for (const piece of ['data: xxxxxxxx', 'data: xxxxxxxx\n']) {
    const parser = createSseParser({ maxBytes: 100 })
    t.throws(() => {
      parser.push(Buffer.from('data: '))
      for (let n = 0; n < 20; n++) parser.push(Buffer.from(piece))
    }, { code: 'provider_unavailable' })
  }
})

function parse (chunks: readonly Uint8Array[]): string[] {
  const parser = createSseParser()
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()]
}
