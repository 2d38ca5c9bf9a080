import t from 'tap'
import { getJson, post, startApp } from '../helpers/app.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'
import { refused, send } from './request.ts'

t.test('the process is live and ready', async (t) => {
  const { url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  t.strictSame(await getJson(`${url}/health`), { status: 'ok' })
  t.strictSame(await getJson(`${url}/ready`), { status: 'ready' })
})

t.test('without its database the process is live, not ready, and says so to every request', async (t) => {
  const { url, database } = await startApp(t, { model: scriptedModel([['Hello']]) })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hello' })
  await database.close()
  const ready = await send(url, 'GET', '/ready')
  t.strictSame([ready.status, ready.json], [503, { status: 'storage_unavailable' }])
  t.strictSame(await getJson(`${url}/health`), { status: 'ok' })
  const calls = [['GET', '/v1/threads'], ['GET', '/v1/threads/thread-one'], ['POST', '/v1/threads', {}], ['POST', '/v1/threads/thread-one/messages', { text: 'x' }], ['GET', '/v1/threads/thread-one/messages'], ['GET', '/v1/threads/thread-one/stream']] as const
  for (const [method, path, body] of calls) refused(t, await send(url, method, path, { body }), { status: 503, code: 'storage_unavailable' }, `${method} ${path}`)
  t.equal((await getJson(`${url}/v1/agents`)).items.length, 1, 'what needs no database still answers')
})

t.test('a draining process is not ready and takes no new runs, but shows what there is', async (t) => {
  const { app, url } = await startApp(t, { model: scriptedModel([['Hello']]) })
  await post(`${url}/v1/threads/thread-one/messages`, { text: 'Hello' })
  await app.drainRuns(0)
  const ready = await send(url, 'GET', '/ready')
  t.strictSame([ready.status, ready.json], [503, { status: 'draining' }])
  refused(t, await send(url, 'POST', '/v1/threads/thread-one/messages', { body: { text: 'x' } }), { status: 503, code: 'shutting_down' }, 'a new message')
  t.equal((await getJson(`${url}/v1/threads/thread-one/messages`)).items.length, 2)
  t.equal((await send(url, 'POST', '/v1/threads/thread-one/stop')).status, 200)
})
