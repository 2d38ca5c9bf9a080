import t from 'tap'
import { nativeProtocol } from '../../../../src/protocols/native/encode.ts'
import { encodeAll, inBatches, stamped, started, startedAt } from '../../../helpers/run-events.ts'

t.test('events are on the wire as they are, resumable by their number', async (t) => {
  const { text, writes } = await encodeAll(nativeProtocol, [started, { type: 'run-completed' }], { batchSize: 2 })
  t.equal(text, ': stream-open\n\n' +
    `event: message-start\nid: 0\ndata: {"type":"message-start","messageId":"msg-1","runId":"run-1","threadId":"thread-1","agentId":"agent-1","model":"test:model","continued":false,"seq":0,"at":"${startedAt}"}\n\n` +
    `event: run-completed\nid: 1\ndata: {"type":"run-completed","seq":1,"at":"${startedAt}"}\n\n`)
  t.equal(writes.length, 2)
})

t.test('the stream ends after the terminal event although its source goes on, and closes it', async (t) => {
  let closed = false
  async function * source () {
    try {
      yield stamped([started, { type: 'run-stopped', reason: 'user' }])
      await new Promise(() => {})
    } finally { closed = true }
  }
  let text = ''
  for await (const frames of nativeProtocol.encode(source())) text += frames
  t.match(text, /event: run-stopped/)
  t.ok(closed)
})

t.test('what the source throws breaks the stream', async (t) => {
  const fault = new Error('gone')
  async function * source () {
    yield * inBatches(stamped([started]))
    throw fault
  }
  await t.rejects(async () => { for await (const frames of nativeProtocol.encode(source())) t.type(frames, 'string') }, fault)
})
