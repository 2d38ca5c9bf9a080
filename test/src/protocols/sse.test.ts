import t from 'tap'
import { comment, dataFrame, done, keepAlive, sseFrame, sseHeaders, streamOpen } from '../../../src/protocols/sse.ts'

const cases = [
  { name: 'data alone', fields: { data: 'x' }, wire: 'data: x\n\n' },
  { name: 'event, id and data', fields: { event: 'text-delta', id: '7', data: '{"a":1}' }, wire: 'event: text-delta\nid: 7\ndata: {"a":1}\n\n' },
  { name: 'every kind of line break in data', fields: { data: 'a\nb\r\nc\rd' }, wire: 'data: a\ndata: b\ndata: c\ndata: d\n\n' },
  { name: 'empty data', fields: { data: '' }, wire: 'data: \n\n' },
  { name: 'an empty id', fields: { id: '', data: 'x' }, wire: 'id: \ndata: x\n\n' }
]

for (const { name, fields, wire } of cases) t.test(`${name} is framed byte for byte`, async (t) => { t.equal(sseFrame(fields), wire) })

t.test('an id, a name or a comment cannot forge fields', async (t) => {
  for (const bad of ['a\nb', 'a\rb', 'a\0b']) {
    t.throws(() => sseFrame({ id: bad, data: 'x' }), TypeError)
    t.throws(() => sseFrame({ event: bad, data: 'x' }), TypeError)
    t.throws(() => comment(bad), TypeError)
  }
})

t.test('comments and the end are what clients skip and know', async (t) => {
  t.equal(streamOpen, ': stream-open\n\n')
  t.equal(keepAlive, ': keep-alive\n\n')
  t.equal(done, 'data: [DONE]\n\n')
  t.equal(dataFrame('{"a":"\\n"}'), 'data: {"a":"\\n"}\n\n')
})

t.test('nothing on the way may hold events back', async (t) => {
  t.strictSame(sseHeaders, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', connection: 'keep-alive', 'x-accel-buffering': 'no' })
})
