import { ReadableStream } from 'node:stream/web'
import t from 'tap'
import { watchedFetch, type WatchedRequest } from '../../../../src/tools/mcp/watched-fetch.ts'

t.test('a reply is passed on as it is, and its end is told with its request', async (t) => {
  const { fetch, ended } = world(['hel', 'lo'], { status: 201, headers: { 'mcp-session-id': 'one' } })
  const response = await fetch('http://far/', { method: 'POST', body: 'asked' })
  t.match({ status: response.status, session: response.headers.get('mcp-session-id') }, { status: 201, session: 'one' })
  t.strictSame(ended, [])
  t.equal(await response.text(), 'hello')
  t.strictSame(ended, [{ method: 'POST', body: 'asked' }])
})

t.test('a reply that nobody wants, or that breaks, is over too, and its source is let go', async (t) => {
  const unread = world(['hello'])
  await (await unread.fetch('http://far/')).body?.cancel()
  t.strictSame(unread.ended, [{ method: 'GET', body: undefined }])
  t.equal(unread.cancelled(), 1)

  const broken = world(['hel', new Error('cut')])
  await t.rejects((await broken.fetch('http://far/')).text(), { message: 'cut' })
  t.equal(broken.ended.length, 1)
})

t.test('a reply that is too long fails, and a stream that is listened to has no length', async (t) => {
  const long = world(['12345', '67890', '1'], {}, 10)
  await t.rejects((await long.fetch('http://far/', { method: 'POST' })).text(), { message: 'The reply is longer than 10 bytes' })
  t.equal(long.cancelled(), 1)
  t.equal(long.ended.length, 1)
  const listened = world(['12345', '67890', '1'], {}, 10)
  t.equal(await (await listened.fetch('http://far/')).text(), '12345678901')
})

t.test('a reply without a body, and a request without a reply, are as they were', async (t) => {
  const ended: WatchedRequest[] = []
  const options = { maxReplyBytes: 10, onReplyEnd: (request: WatchedRequest) => { ended.push(request) } }
  const nothing = new Response(null, { status: 204 })
  t.equal(await watchedFetch(async () => nothing, options)('http://far/'), nothing)
  await t.rejects(watchedFetch(async () => { throw new Error('refused') }, options)('http://far/'), { message: 'refused' })
  t.strictSame(ended, [])
})

function world (chunks: ReadonlyArray<string | Error>, init: ResponseInit = {}, maxReplyBytes = 100) {
  const ended: WatchedRequest[] = []
  const rest = [...chunks]
  let cancelled = 0
  const source = new ReadableStream<Uint8Array>({
    pull (controller) {
      const next = rest.shift()
      if (next === undefined) controller.close()
      else if (next instanceof Error) controller.error(next)
      else controller.enqueue(new TextEncoder().encode(next))
    },
    cancel () { cancelled++ }
  }, { highWaterMark: 0 })
  return { ended, cancelled: () => cancelled, fetch: watchedFetch(async () => new Response(source, init), { maxReplyBytes, onReplyEnd: (request) => { ended.push(request) } }) }
}
