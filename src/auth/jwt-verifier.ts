import { errors, jwtVerify, type CryptoKey, type JWTPayload, type JWTVerifyOptions } from 'jose'
import { refused, type Verify } from './authenticator.ts'
import { readPrincipal } from './claims.ts'
import { createJwtKeys, type JwtKeysOptions } from './jwt-keys.ts'

export interface JwtOptions extends JwtKeysOptions {
  readonly authIssuer?: string | undefined
  readonly authAudience?: readonly string[] | undefined
  readonly authTenantClaim: string
  readonly authRolesClaim: string
}

const clockSkewSeconds = 60

/** Lets in tokens that are signed, in time, and for us; `sub` is the user. */
export function createJwtVerifier (options: JwtOptions): Verify {
  const { algorithms, keyOf } = createJwtKeys(options)
  const names = { tenant: options.authTenantClaim, roles: options.authRolesClaim }
  const rules: JWTVerifyOptions = {
    algorithms: [...algorithms],
    requiredClaims: ['exp', 'sub'],
    clockTolerance: clockSkewSeconds,
    ...(options.authIssuer === undefined ? {} : { issuer: options.authIssuer }),
    ...(options.authAudience === undefined ? {} : { audience: [...options.authAudience] })
  }

  return async (token) => {
    try {
      const read = readPrincipal(await claimsOf(token), names)
      return read.ok ? read : refused(`the claim ${read.claim} is missing or not usable`)
    } catch (error) {
      // A reason without the claims: jose's error carries the whole payload.
      if (error instanceof errors.JOSEError) return refused(reasonOf(error))
      throw error
    }
  }

  async function claimsOf (token: string): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, keyOf, rules)).payload
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return await claimsByAnyOf(error, token)
      throw error
    }
  }

  /** A token that names no key is tried with each that it could be signed with. */
  async function claimsByAnyOf (keys: AsyncIterable<CryptoKey>, token: string): Promise<JWTPayload> {
    for await (const key of keys) {
      try {
        return (await jwtVerify(token, key, rules)).payload
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function reasonOf (error: errors.JOSEError): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) return `${error.code}: ${error.claim} ${error.reason}`
  return error.code
}
