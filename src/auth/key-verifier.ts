import { createHash, timingSafeEqual } from 'node:crypto'
import type { KeyEntry } from '../config.ts'
import { refused, type Verify } from './authenticator.ts'
import type { Principal } from './principal.ts'

/**
 * Lets in the keys whose hashes are listed. One round of SHA-256 is enough, since keys are random with 256 bits: what
 * slow hashes defend, guessing from a list of likely passwords, has nothing to guess here.
 */
export function createKeyVerifier (entries: readonly KeyEntry[]): Verify {
  const known = entries.map(({ hash, user, tenant, roles }) => ({
    digest: Buffer.from(hash.slice('sha256:'.length), 'hex'),
    principal: Object.freeze({ tenantId: tenant, userId: user, roles }) satisfies Principal
  }))

  return async (key) => {
    const digest = createHash('sha256').update(key).digest()
    // Every entry is compared to its end, so that time says neither how much of a hash was right nor whose it was.
    let found: Principal | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.principal
    return found === undefined ? refused('unknown key') : { ok: true, principal: found }
  }
}
