import { generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import { createJwtVerifier, type JwtOptions } from '../../../src/auth/jwt-verifier.ts'
import { secondsFromNow, signed, startIssuer, unsigned } from '../../helpers/issuer.ts'

const claimNames = { authTenantClaim: 'tenant', authRolesClaim: 'roles' }
const secretOf = (bytes: number) => 'k'.repeat(bytes)
const bytesOf = (text: string) => new TextEncoder().encode(text)

t.test('tokens signed with a published key let their user in, whatever kind of key it is', async (t) => {
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
  const issuer = await startIssuer(t, algorithms)
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  for (const alg of algorithms) t.strictSame(await verify(await issuer.token({ tenant: 'north', roles: ['admin'] }, { alg })), { ok: true, principal: { tenantId: 'north', userId: 'ada', roles: ['admin'] } }, alg)
  t.equal(issuer.fetches(), 1, 'the keys are fetched once')
})

t.test('with published keys neither an unsigned token nor one signed with the public key as a secret gets in', async (t) => {
  const issuer = await startIssuer(t, ['RS256', 'ES256'])
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  t.match(await verify(unsigned()), { ok: false, cause: 'wrong' })
  t.match(await verify('eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyLWEifQ.'), { ok: false, cause: 'wrong' })
  for (const kid of ['RS256', 'ES256']) {
    for (const secret of [await issuer.publicKey(kid), (await issuer.publicKey(kid)).trimEnd(), JSON.stringify(issuer.keys.find((key) => key.kid === kid))]) {
      t.match(await verify(await signed({}, bytesOf(secret), { alg: 'HS256', kid })), { ok: false, reason: 'ERR_JOSE_ALG_NOT_ALLOWED' })
    }
  }
})

t.test('a key that is published as a secret by mistake verifies nothing', async (t) => {
  const issuer = await startIssuer(t)
  issuer.publish({ keys: [{ kty: 'oct', k: Buffer.from(secretOf(32)).toString('base64url'), kid: 'shared', alg: 'HS256' }] })
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  t.match(await verify(await signed({}, bytesOf(secretOf(32)), { alg: 'HS256', kid: 'shared' })), { ok: false })
})

t.test('a token has to be signed by its issuer, unchanged, in time, and of a user', async (t) => {
  const issuer = await startIssuer(t)
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  const { privateKey: foreign } = await generateKeyPair('ES256')
  const [head = '', , signature = ''] = (await issuer.token()).split('.')
  const cases = {
    'signed by somebody else': await signed({}, foreign, { alg: 'ES256', kid: 'ES256' }),
    'of an unknown key': await issuer.token({}, { kid: 'other' }),
    'with other claims than were signed': [head, Buffer.from(JSON.stringify({ sub: 'root', exp: secondsFromNow(60) })).toString('base64url'), signature].join('.'),
    'without its signature': `${(await issuer.token()).split('.').slice(0, 2).join('.')}.`,
    'expired more than a minute ago': await issuer.token({ exp: secondsFromNow(-65) }),
    'without an end': await issuer.token({ exp: undefined }),
    'not yet valid': await issuer.token({ nbf: secondsFromNow(65) }),
    'with an end that is no time': await issuer.token({ exp: 'never' }),
    'without a user': await issuer.token({ sub: undefined }),
    'of an empty user': await issuer.token({ sub: '' }),
    'of a user that is no text': await issuer.token({ sub: 7 }),
    'with an unusable tenant': await issuer.token({ tenant: 7 })
  }
  for (const [name, token] of Object.entries(cases)) t.match(await verify(token), { ok: false, cause: 'wrong', reason: String }, name)
  for (const token of ['', '.', '..', 'a.b', 'a.b.c', 'a.b.c.d.e', '{}', 'e30.e30.e30', `${head}.e30.${signature}`, `${'x'.repeat(8_000)}.y.z`]) t.match(await verify(token), { ok: false, cause: 'wrong' }, token.slice(0, 20))
  t.match(await verify(await issuer.token({ exp: secondsFromNow(-50), nbf: secondsFromNow(50) })), { ok: true }, 'clocks may differ by a minute')
})

t.test('a critical header that is not understood refuses the token', async (t) => {
  const key = bytesOf(secretOf(32))
  const token = await new SignJWT({ sub: 'ada', exp: secondsFromNow(60) }).setProtectedHeader({ alg: 'HS256', crit: ['only-here'], 'only-here': true }).sign(key, { crit: { 'only-here': true } })
  t.match(await createJwtVerifier({ ...claimNames, authJwtSecret: secretOf(32) })(token), { ok: false })
})

t.test('issuer and audience must be the configured ones', async (t) => {
  const issuer = await startIssuer(t)
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl, authIssuer: 'https://login.example.com', authAudience: ['parley', 'chat'] })
  const ours = { iss: 'https://login.example.com', aud: 'parley' }
  t.match(await verify(await issuer.token(ours)), { ok: true })
  t.match(await verify(await issuer.token({ ...ours, aud: ['other', 'chat'] })), { ok: true })
  for (const claims of [{ ...ours, iss: 'https://login.example.com.evil.example' }, { ...ours, iss: undefined }, { ...ours, aud: 'other' }, { ...ours, aud: undefined }, { ...ours, aud: [] }]) {
    t.match(await verify(await issuer.token(claims)), { ok: false }, JSON.stringify(claims))
  }
})

t.test('a shared secret verifies HMAC signatures no longer than itself, and nothing else', async (t) => {
  for (const [bytes, allowed] of [[32, ['HS256']], [48, ['HS256', 'HS384']], [64, ['HS256', 'HS384', 'HS512']]] as const) {
    const verify = createJwtVerifier({ ...claimNames, authJwtSecret: secretOf(bytes) })
    for (const alg of ['HS256', 'HS384', 'HS512'] as const) t.match(await verify(await signed({}, bytesOf(secretOf(bytes)), { alg })), { ok: (allowed as readonly string[]).includes(alg) }, `${alg}, ${bytes} bytes`)
    t.match(await verify(await signed({}, bytesOf(secretOf(bytes + 1)), { alg: 'HS256' })), { ok: false }, 'another secret')
    t.match(await verify(unsigned()), { ok: false }, 'unsigned')
    t.match(await verify(await (await startIssuer(t)).token()), { ok: false }, 'another kind of key')
  }
})

t.test('a token that names no key is tried with each it could be signed with', async (t) => {
  const issuer = await startIssuer(t)
  const other = await startIssuer(t)
  issuer.publish({ keys: [...other.keys, ...issuer.keys].map(({ kid, ...key }, index) => ({ ...key, kid: `key-${index}` })) })
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  t.match(await verify(await issuer.token({}, { kid: '' })), { ok: true })
  t.match(await verify(await issuer.token({ exp: secondsFromNow(-100) }, { kid: '' })), { ok: false })
  t.match(await verify(await (await startIssuer(t)).token({}, { kid: '' })), { ok: false })
})

t.test('keys that cannot be fetched are our trouble and not the token\'s, until they can be', async (t) => {
  const issuer = await startIssuer(t)
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  for (const broken of [undefined, '<html>', '{}', '{"keys":7}']) {
    issuer.publish(broken)
    await t.rejects(verify(await issuer.token()), { code: 'identity_unavailable', statusCode: 503 }, String(broken))
  }
  t.match(await verify(unsigned()), { ok: false }, 'what is wrong without any key stays wrong')
  issuer.publish({ keys: issuer.keys })
  t.match(await verify(await issuer.token()), { ok: true })
  issuer.publish(undefined)
  t.match(await verify(await issuer.token()), { ok: true }, 'known keys outlast an outage')
})

t.test('tokens with made up key ids do not make us fetch the keys again and again', async (t) => {
  const issuer = await startIssuer(t)
  const verify = createJwtVerifier({ ...claimNames, authJwksUrl: issuer.jwksUrl })
  await Promise.all(Array.from({ length: 50 }, async (_, index) => t.match(await verify(await issuer.token({}, { kid: `made-up-${index}` })), { ok: false })))
  t.ok(issuer.fetches() <= 2, `${issuer.fetches()} fetches`)
})

t.test('the reason of a refusal names the fault and never the token or its claims', async (t) => {
  const verify = createJwtVerifier({ ...claimNames, authJwtSecret: secretOf(32), authIssuer: 'here' } satisfies JwtOptions)
  const token = await signed({ sub: 'private-name', exp: secondsFromNow(-500), iss: 'here' }, bytesOf(secretOf(32)), { alg: 'HS256' })
  const refusal = await verify(token)
  t.match(refusal, { ok: false, reason: /^ERR_JWT_EXPIRED: exp / })
  t.notMatch(JSON.stringify(refusal), 'private-name')
  t.notMatch(JSON.stringify(refusal), token)
})
