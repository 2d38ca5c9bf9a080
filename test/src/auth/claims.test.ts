import t from 'tap'
import { readPrincipal } from '../../../src/auth/claims.ts'

const names = { tenant: 'tenant', roles: 'roles' }

t.test('sub is the user; tenant and roles have defaults', async (t) => {
  t.strictSame(readPrincipal({ sub: 'ada' }, names), { ok: true, principal: { tenantId: 'default', userId: 'ada', roles: [] } })
  t.strictSame(readPrincipal({ sub: 'ada', tenant: 'north', roles: ['a', 'b'] }, names), { ok: true, principal: { tenantId: 'north', userId: 'ada', roles: ['a', 'b'] } })
  t.match(readPrincipal({ sub: 'ada', roles: ' a  b ' }, names), { principal: { roles: ['a', 'b'] } }, 'roles as a scope lists them')
})

t.test('claims have the configured names: whole, as URLs are, or as a path', async (t) => {
  const claims = { sub: 'ada', 'https://example.com/tenant': 'north', realm_access: { roles: ['admin'] } }
  t.match(readPrincipal(claims, { tenant: 'https://example.com/tenant', roles: 'realm_access.roles' }), { principal: { tenantId: 'north', roles: ['admin'] } })
  t.match(readPrincipal(claims, { tenant: 'constructor.name', roles: '__proto__.x' }), { principal: { tenantId: 'default', roles: [] } }, 'nothing inherited is a claim')
})

t.test('a claim that is there and unusable refuses the token by its name', async (t) => {
  for (const [claims, claim] of [
    [{}, 'sub'], [{ sub: '' }, 'sub'], [{ sub: 7 }, 'sub'], [{ sub: 'a\0b' }, 'sub'], [{ sub: 'a\nb' }, 'sub'], [{ sub: 'x'.repeat(201) }, 'sub'], [{ sub: '\uD800' }, 'sub'],
    [{ sub: 'ada', tenant: '' }, 'tenant'], [{ sub: 'ada', tenant: null }, 'tenant'], [{ sub: 'ada', tenant: ['north'] }, 'tenant'],
    [{ sub: 'ada', roles: [1] }, 'roles'], [{ sub: 'ada', roles: { admin: true } }, 'roles']
  ] as const) {
    t.strictSame(readPrincipal(claims, names), { ok: false, claim }, JSON.stringify(claims))
  }
})
