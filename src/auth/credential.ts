/** The headers that may carry a credential; repeated ones come joined or as a list. */
export type CredentialHeaders = Readonly<Record<string, string | string[] | undefined>>

export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'token', readonly token: string }
  | { readonly kind: 'unreadable', readonly reason: string }

/**
 * The credential of a request: `Authorization: Bearer <token>` or `x-api-key: <token>`. Two different ones are none:
 * which of them a proxy has checked cannot be known here.
 */
export function readCredential (headers: CredentialHeaders): Credential {
  const { authorization, 'x-api-key': apiKey } = headers
  if (authorization === undefined && apiKey === undefined) return { kind: 'none' }
  const bearer = authorization === undefined ? undefined : bearerToken(authorization)
  if (authorization !== undefined && bearer === undefined) return { kind: 'unreadable', reason: 'the authorization header is not "Bearer <token>"' }
  if (apiKey !== undefined && !isToken(apiKey)) return { kind: 'unreadable', reason: 'the x-api-key header is not one token' }
  const [token = '', other = token] = [bearer, apiKey].filter((value) => value !== undefined)
  return token === other ? { kind: 'token', token } : { kind: 'unreadable', reason: 'two different credentials' }
}

function bearerToken (header: string | string[]): string | undefined {
  if (typeof header !== 'string') return undefined
  // The scheme is case-insensitive (RFC 9110); the token is what RFC 6750 calls b64token.
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
}

function isToken (header: string | string[]): header is string {
  return typeof header === 'string' && /^[\w.~+/-]+=*$/.test(header)
}
