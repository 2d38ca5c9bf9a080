import type { Config } from '../config.ts'
import { readCredential, type CredentialHeaders } from './credential.ts'
import { createJwtVerifier } from './jwt-verifier.ts'
import { createKeyVerifier } from './key-verifier.ts'
import { anonymous, type Principal } from './principal.ts'

export type Authentication =
  | { readonly ok: true, readonly principal: Principal }
  /** The reason is for the log: a caller who is told it learns how to get further. */
  | { readonly ok: false, readonly reason: string, readonly cause: 'missing' | 'wrong' }

/** Says whose a credential is. Throws identity_unavailable when that cannot be found out now. */
export type Verify = (credential: string) => Promise<Authentication>

export interface Authenticator {
  authenticate: (headers: CredentialHeaders) => Promise<Authentication>
}

export function createAuthenticator (config: Config): Authenticator {
  switch (config.auth) {
    case 'none': return { authenticate: async () => ({ ok: true, principal: anonymous }) }
    case 'keys': return over(createKeyVerifier(config.authKeys))
    case 'jwt': return over(createJwtVerifier(config))
    default: return config.auth satisfies never
  }
}

export function refused (reason: string): Authentication {
  return { ok: false, reason, cause: 'wrong' }
}

function over (verify: Verify): Authenticator {
  return {
    async authenticate (headers) {
      const credential = readCredential(headers)
      switch (credential.kind) {
        case 'none': return { ok: false, reason: 'no credentials', cause: 'missing' }
        case 'unreadable': return refused(credential.reason)
        case 'token': return await verify(credential.token)
        default: return credential satisfies never
      }
    }
  }
}
