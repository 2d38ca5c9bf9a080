import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { AppError } from '../errors.ts'

/** How tokens are verified: the key is never used with an algorithm of another kind of key. */
export interface JwtKeys {
  readonly algorithms: readonly string[]
  readonly keyOf: JWTVerifyGetKey
}

export interface JwtKeysOptions {
  readonly authJwksUrl?: string | undefined
  readonly authJwtSecret?: string | undefined
}

// Public keys verify and never sign: with an HMAC algorithm the published key itself would be the secret.
const asymmetric = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const
const fetchTimeoutMs = 5_000
const cacheMs = 600_000
/** Unknown key ids make the keys be fetched again, so that a new one works at once; not more often than this. */
const coolDownMs = 30_000

export function createJwtKeys ({ authJwksUrl, authJwtSecret }: JwtKeysOptions): JwtKeys {
  if (authJwksUrl !== undefined) return { algorithms: asymmetric, keyOf: publishedKeys(new URL(authJwksUrl)) }
  if (authJwtSecret !== undefined) return secretKey(new TextEncoder().encode(authJwtSecret))
  throw new AppError('configuration_error', 'AUTH=jwt needs AUTH_JWKS_URL or AUTH_JWT_SECRET.')
}

/** A key as short as the hash or longer (RFC 7518, 3.2): a 32 byte secret signs with HS256 only. */
function secretKey (secret: Uint8Array): JwtKeys {
  const sizes = [['HS256', 32], ['HS384', 48], ['HS512', 64]] as const
  return { algorithms: sizes.filter(([, bytes]) => secret.length >= bytes).map(([name]) => name), keyOf: async () => secret }
}

function publishedKeys (url: URL): JWTVerifyGetKey {
  const fetched = createRemoteJWKSet(url, { timeoutDuration: fetchTimeoutMs, cacheMaxAge: cacheMs, cooldownDuration: coolDownMs })
  return async (header, token) => {
    try {
      return await fetched(header, token)
    } catch (error) {
      if (isTokensFault(error)) throw error
      throw new AppError('identity_unavailable', 'Credentials cannot be checked at the moment. Try again shortly.', { cause: error })
    }
  }
}

/** The keys are there and none is the token's; everything else is a fetch that failed or an unusable answer to it. */
function isTokensFault (error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys || error instanceof errors.JOSENotSupported
}
