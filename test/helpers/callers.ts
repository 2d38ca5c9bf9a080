import { newKey } from '../../src/auth/new-key.ts'

export interface Caller { readonly user: string, readonly tenant: string, readonly key: string, readonly headers: Readonly<Record<string, string>> }

/** Callers with keys of their own, and the environment of a service that knows them; `user@tenant`, or a user of the default one, with `+role` for each role. */
export function callersWithKeys<Name extends string> (...names: Name[]): { callers: Readonly<Record<Name, Caller>>, env: Record<string, string> } {
  const callers = {} as Record<Name, Caller> // filled below, for each name
  const entries = names.map((name) => {
    const [who = '', ...roles] = name.split('+')
    const [user = '', tenant = 'default'] = who.split('@')
    const { key, entry } = newKey({ user, tenant, roles })
    callers[name] = { user, tenant, key, headers: { authorization: `Bearer ${key}` } }
    return entry
  })
  return { callers, env: { AUTH: 'keys', AUTH_KEYS: JSON.stringify(entries) } }
}
