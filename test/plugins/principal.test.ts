import { pino } from 'pino'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { loggerOptions } from '../../src/logging.ts'
import { startApp } from '../helpers/app.ts'
import { callersWithKeys } from '../helpers/callers.ts'
import { signed, startIssuer, unsigned, secondsFromNow } from '../helpers/issuer.ts'
import { scriptedModel } from '../helpers/scripted-model.ts'

const model = scriptedModel([['Hello']])
const secret = 'a-secret-of-32-bytes-for-testing'
const byJwt = { AUTH: 'jwt', AUTH_JWT_SECRET: secret }
const tokenOf = async (claims: Record<string, unknown> = {}) => await signed(claims, new TextEncoder().encode(secret), { alg: 'HS256' })

t.test('a key in either header lets its user in, and threads are that user\'s', async (t) => {
  const { callers: { ada, bob }, env } = callersWithKeys('ada', 'bob')
  const { app } = await startApp(t, { model, env })
  t.equal((await app.inject({ method: 'POST', url: '/v1/threads', headers: ada.headers, payload: { id: 'adas-thread' } })).statusCode, 201)
  t.match((await app.inject({ url: '/v1/threads', headers: { 'x-api-key': ada.key } })).json(), { items: [{ id: 'adas-thread' }] })
  t.strictSame((await app.inject({ url: '/v1/threads', headers: bob.headers })).json().items, [])
})

t.test('a token lets its user in, of the tenant it names', async (t) => {
  const { app } = await startApp(t, { model, env: byJwt })
  const north = { authorization: `Bearer ${await tokenOf({ tenant: 'north' })}` }
  const south = { authorization: `Bearer ${await tokenOf({ tenant: 'south' })}` }
  t.equal((await app.inject({ method: 'POST', url: '/v1/threads', headers: north, payload: { id: 'norths-thread' } })).statusCode, 201)
  t.equal((await app.inject({ url: '/v1/threads/norths-thread', headers: north })).statusCode, 200)
  t.equal((await app.inject({ url: '/v1/threads/norths-thread', headers: south })).statusCode, 404, 'the same user id elsewhere is somebody else')
})

t.test('every refusal is the same answer, whatever is wrong with the credentials', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const keys = await startApp(t, { model, env })
  const jwt = await startApp(t, { model, env: byJwt })
  const cases: ReadonlyArray<readonly [FastifyInstance, Record<string, string>]> = [
    [keys.app, {}], [keys.app, { authorization: 'Bearer wrong' }], [keys.app, { authorization: `Basic ${ada.key}` }], [keys.app, { 'x-api-key': `${ada.key}x` }],
    [keys.app, { ...ada.headers, 'x-api-key': 'another' }], [keys.app, { cookie: `key=${ada.key}` }],
    [jwt.app, {}], [jwt.app, { authorization: `Bearer ${unsigned()}` }], [jwt.app, { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyLWEifQ.' }],
    [jwt.app, { authorization: `Bearer ${await tokenOf({ exp: secondsFromNow(-100) })}` }], [jwt.app, { authorization: `Bearer ${await tokenOf({ sub: undefined })}` }]
  ]
  const answers = await Promise.all(cases.map(async ([app, headers]) => await app.inject({ url: '/v1/threads', headers })))
  for (const { statusCode, headers, body } of answers) {
    t.equal(statusCode, 401)
    t.equal(headers['www-authenticate'], 'Bearer')
    t.strictSame({ ...JSON.parse(body), ref: '' }, { code: 'unauthenticated', message: 'Credentials are missing or not valid.', retryable: false, ref: '' })
  }
})

t.test('health and readiness are for everybody; paths that do not exist are not, below /v1 and /api', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model, env })
  for (const url of ['/health', '/ready']) t.equal((await app.inject({ url })).statusCode, 200, url)
  for (const url of ['/v1', '/v1/', '/v1/nowhere', '/v1/threads/a/b/c/d', '/api/nowhere', '/v1/threads%2f..%2fx']) {
    t.equal((await app.inject({ url })).statusCode, 401, url)
    t.match((await app.inject({ url, headers: ada.headers })).json(), { code: 'not_found', message: 'No such route.' }, url)
  }
  t.equal((await app.inject({ method: 'PUT', url: '/v1/threads' })).statusCode, 401, 'another method')
  t.equal((await app.inject({ url: '/nowhere' })).statusCode, 404)
})

t.test('a request without credentials is refused before its body is read', async (t) => {
  const { env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model, env })
  t.equal((await app.inject({ method: 'POST', url: '/v1/threads', headers: { 'content-type': 'application/json' }, payload: '{' })).statusCode, 401)
  t.equal((await app.inject({ method: 'POST', url: '/v1/threads', headers: { 'content-type': 'application/json' }, payload: `"${'x'.repeat(2_000_000)}"` })).statusCode, 401)
})

t.test('browsers can ask first without credentials, and can read a refusal', async (t) => {
  const { env } = callersWithKeys('ada')
  const { app } = await startApp(t, { model, env: { ...env, CORS_ORIGINS: 'https://app.example.com' } })
  const origin = 'https://app.example.com'
  const preflight = await app.inject({ method: 'OPTIONS', url: '/v1/threads', headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' } })
  t.equal(preflight.statusCode, 204)
  t.match(preflight.headers, { 'access-control-allow-origin': origin, 'access-control-allow-headers': /authorization/ })
  const refused = await app.inject({ url: '/v1/threads', headers: { origin } })
  t.equal(refused.statusCode, 401)
  t.match(refused.headers, { 'access-control-allow-origin': origin, vary: /Origin/i })
})

t.test('an issuer that cannot be reached is 503, and the next token after it is back is let in', async (t) => {
  const issuer = await startIssuer(t)
  const { app } = await startApp(t, { model, env: { AUTH: 'jwt', AUTH_JWKS_URL: issuer.jwksUrl } })
  const headers = { authorization: `Bearer ${await issuer.token()}` }
  issuer.publish(undefined)
  const down = await app.inject({ url: '/v1/threads', headers })
  t.equal(down.statusCode, 503)
  t.match(down.json(), { code: 'identity_unavailable', retryable: true })
  t.notMatch(down.body, issuer.jwksUrl)
  t.equal((await app.inject({ url: '/health' })).statusCode, 200)
  issuer.publish({ keys: issuer.keys })
  t.equal((await app.inject({ url: '/v1/threads', headers })).statusCode, 200)
})

t.test('the log says who asked and why somebody was refused, and never a credential', async (t) => {
  const { callers: { ada }, env } = callersWithKeys('ada')
  const { lines, log } = logged()
  const { app } = await startApp(t, { model, env, log })
  await app.inject({ url: '/v1/threads', headers: ada.headers })
  await app.inject({ url: '/v1/threads', headers: { 'x-api-key': 'sneaky-wrong-key' } })
  t.ok(lines.some(({ msg, user, tenant }) => msg === 'request completed' && user === 'ada' && tenant === 'default'))
  t.ok(lines.some(({ msg, reason }) => msg === 'credentials refused' && reason === 'unknown key'))
  for (const part of [ada.key, 'sneaky', 'sha256:']) t.notMatch(JSON.stringify(lines), part)

  const jwt = logged()
  const byToken = await startApp(t, { model, env: byJwt, log: jwt.log })
  const token = await tokenOf({ sub: 'private-name', exp: secondsFromNow(-500) })
  await byToken.app.inject({ url: '/v1/threads', headers: { authorization: `Bearer ${token}` } })
  t.ok(jwt.lines.some(({ reason }) => /^ERR_JWT_EXPIRED/.test(String(reason))))
  for (const part of [token, secret, 'private-name']) t.notMatch(JSON.stringify(jwt.lines), part)
})

function logged () {
  const lines: Record<string, unknown>[] = []
  const log = pino(loggerOptions({ logLevel: 'debug' }), { write: (line: string) => { lines.push(JSON.parse(line)) } })
  return { lines, log }
}
