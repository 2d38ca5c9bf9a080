import { createHash, randomBytes } from 'node:crypto'
import type { KeyEntry } from '../config.ts'

export interface NewKey {
  /** Given to its user and kept nowhere. */
  readonly key: string
  /** What AUTH_KEYS lists. */
  readonly entry: KeyEntry
}

/** The prefix lets scanners of repositories and logs find a key that strayed. */
export function newKey ({ user, tenant, roles }: Omit<KeyEntry, 'hash'>): NewKey {
  const key = `parley_${randomBytes(32).toString('base64url')}`
  return { key, entry: { hash: `sha256:${createHash('sha256').update(key).digest('hex')}`, user, tenant, roles } }
}
