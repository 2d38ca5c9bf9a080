import t from 'tap'
import { startApp } from '../helpers/app.ts'
import { callersWithKeys } from '../helpers/callers.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

const model = scriptedModel([['Hello']])

t.test('a caller who asks too often is told to wait, wherever from, and others are not', async (t) => {
  const { callers: { ada, bob }, env } = callersWithKeys('ada', 'bob')
  const { app } = await startApp(t, { model, env: { ...env, RATE_LIMIT_PER_MINUTE: '3' } })
  for (const remoteAddress of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) t.equal((await app.inject({ url: '/v1/threads', headers: ada.headers, remoteAddress })).statusCode, 200)
  const refused = await app.inject({ url: '/v1/agents', headers: ada.headers, remoteAddress: '192.0.2.4' })
  t.equal(refused.statusCode, 429)
  t.match(refused.json(), { code: 'rate_limited', retryable: true, ref: /^[0-9a-f]{8}$/ })
  const seconds = Number(refused.headers['retry-after'])
  t.ok(seconds >= 1 && seconds <= 60, `Retry-After: ${seconds}`)
  t.equal((await app.inject({ url: '/v1/threads', headers: bob.headers })).statusCode, 200)
  t.equal((await app.inject({ url: '/health' })).statusCode, 200, 'probes are not counted')
})

t.test('users of the same name in two tenants are counted apart', async (t) => {
  const { callers, env } = callersWithKeys('ada@north', 'ada@south')
  const { app } = await startApp(t, { model, env: { ...env, RATE_LIMIT_PER_MINUTE: '1' } })
  for (const caller of Object.values(callers)) t.equal((await app.inject({ url: '/v1/threads', headers: caller.headers })).statusCode, 200)
})

t.test('a stream counts once, however many chunks it has', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model: scriptedModel([Array.from({ length: 50 }, () => 'word ')]), env: { ...env, RATE_LIMIT_PER_MINUTE: '2' } })
  for (const status of [200, 200, 429]) t.equal((await app.inject({ method: 'POST', url: '/v1/threads/some-thread/messages', headers: ada.headers, payload: { text: 'Hi' } })).statusCode, status)
})

t.test('where nobody says who they are it is the address that counts', async (t) => {
  const { app } = await startApp(t, { model, env: { RATE_LIMIT_PER_MINUTE: '1' } })
  const from = async (remoteAddress: string) => (await app.inject({ url: '/v1/threads', remoteAddress })).statusCode
  t.strictSame([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')], [200, 429, 200])
  t.strictSame([await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8:1::1')], [200, 429, 200], 'an IPv6 network is one')
})

t.test('without a proxy to trust, a forwarded address does not make a new caller', async (t) => {
  const ask = async (env: Record<string, string>) => {
    const { app } = await startApp(t, { model, env: { ...env, RATE_LIMIT_PER_MINUTE: '1' } })
    const from = async (address: string) => (await app.inject({ url: '/v1/threads', headers: { 'x-forwarded-for': address } })).statusCode
    return [await from('192.0.2.1'), await from('192.0.2.2')]
  }
  t.strictSame(await ask({}), [200, 429])
  t.strictSame(await ask({ TRUST_PROXY: 'loopback' }), [200, 200])
})

t.test('wrong credentials are counted by address; a good key from there still gets in, and none at all is not wrong', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model, env: { ...env, AUTH_FAILURES_PER_MINUTE: '2' } })
  const ask = async (headers: Record<string, string>, remoteAddress = '192.0.2.1') => await app.inject({ url: '/v1/threads', headers, remoteAddress })
  for (let n = 0; n < 5; n++) t.equal((await ask({})).statusCode, 401)
  for (const status of [401, 401, 429, 429]) t.equal((await ask({ authorization: 'Bearer wrong' })).statusCode, status)
  t.match((await ask({ 'x-api-key': 'wrong' })).headers, { 'retry-after': /^\d+$/ })
  t.equal((await ask({ 'x-api-key': 'wrong' }, '192.0.2.2')).statusCode, 401)
  t.equal((await ask(ada.headers)).statusCode, 200)
})

t.test('no limit is set unless it is asked for', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model, env: { ...env, AUTH_FAILURES_PER_MINUTE: '0' } })
  for (let n = 0; n < 400; n++) if ((await app.inject({ url: '/v1/agents', headers: n % 2 === 0 ? ada.headers : { 'x-api-key': 'wrong' } })).statusCode === 429) t.fail('a limit')
  t.pass()
})
