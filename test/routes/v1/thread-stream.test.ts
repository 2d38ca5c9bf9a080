import t from 'tap'
import { getJson, post, read, startApp, textIn, until } from '../../helpers/app.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import { refused, send } from '../request.ts'

for (const path of ['/v1/threads/thread-one/stream', '/api/chat/thread-one/stream']) {
  t.test(`${path} replays the running answer from its start, and is 204 when nothing runs`, async (t) => {
    const model = scriptedModel([['Be', 'gun', { hang: true }]])
    const { url } = await startApp(t, { model })
    const asked = post(`${url}/v1/threads/thread-one/messages`, { text: 'Hello' })
    await until('the answer is there', async () => model.requests.length === 1 && (await fetch(`${url}/v1/threads/thread-one`)).ok)
    const resumed = fetch(url + path).then(read)
    await until('the answer has begun', async () => JSON.stringify(await getJson(`${url}/v1/threads/thread-one/messages?include=streaming`)).includes('Begun'))
    const head = await fetch(url + path, { method: 'HEAD' })
    t.strictSame([head.status, head.headers.get('content-type'), await head.text()], [200, 'text/event-stream', ''], 'who asks for headers alone is not kept waiting')
    t.strictSame(Object.keys((await send(url, 'POST', '/v1/threads/thread-one/stop')).json), ['runId'])
    const [first, second] = await Promise.all([asked, resumed])
    t.equal(second.status, 200)
    t.equal(second.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
    t.equal(second.headers.get('x-run-id'), first.headers.get('x-run-id'))
    t.strictSame(second.chunks[0], first.chunks[0], 'under the same message id')
    t.equal(textIn(second), 'Begun')
    t.match(second.chunks.at(-1), { type: 'finish', finishReason: 'other' })
    const idle = await send(url, 'GET', path)
    t.strictSame([idle.status, idle.text], [204, ''])
  })
}

t.test('stopping a thread in which nothing runs changes nothing', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hello' })
  const before = await getJson(`${url}/v1/threads/thread-one/messages`)
  t.strictSame((await send(url, 'POST', '/v1/threads/thread-one/stop')).json, { runId: null })
  t.strictSame(await getJson(`${url}/v1/threads/thread-one/messages`), before)
  refused(t, await send(url, 'POST', '/v1/threads/thread-two/stop'), { status: 404, code: 'not_found' }, 'of no thread')
})
