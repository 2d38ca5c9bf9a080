import { createHash } from 'node:crypto'
import t from 'tap'
import { createKeyVerifier } from '../../../src/auth/key-verifier.ts'
import { newKey } from '../../../src/auth/new-key.ts'

const ada = newKey({ user: 'ada', tenant: 'north', roles: ['admin'] })
const namesake = newKey({ user: 'ada', tenant: 'south', roles: [] })
const verify = createKeyVerifier([ada.entry, namesake.entry])

t.test('a key lets its own user in, of its own tenant and with its own roles', async (t) => {
  t.strictSame(await verify(ada.key), { ok: true, principal: { tenantId: 'north', userId: 'ada', roles: ['admin'] } })
  t.strictSame(await verify(namesake.key), { ok: true, principal: { tenantId: 'south', userId: 'ada', roles: [] } })
})

t.test('nothing else does: not a part of a key, not its hash, not another key', async (t) => {
  for (const key of ['', ada.key.slice(0, -1), `${ada.key}x`, ada.key.toUpperCase(), ada.entry.hash, ada.entry.hash.slice(7), 'ada', newKey({ user: 'ada', tenant: 'north', roles: [] }).key]) {
    t.match(await verify(key), { ok: false, cause: 'wrong', reason: 'unknown key' }, key)
  }
})

t.test('new keys differ, hold 256 random bits, and leave nothing but their SHA-256 in the entry', async (t) => {
  const keys = Array.from({ length: 100 }, () => newKey({ user: 'ada', tenant: 'default', roles: [] }))
  t.equal(new Set(keys.map(({ key }) => key)).size, 100)
  for (const { key, entry } of keys) {
    t.equal(Buffer.from(key.slice('parley_'.length), 'base64url').length, 32)
    t.strictSame(entry, { hash: `sha256:${createHash('sha256').update(key).digest('hex')}`, user: 'ada', tenant: 'default', roles: [] })
  }
})
