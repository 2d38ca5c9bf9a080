import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose'
import type { Test } from 'tap'

/** A claim that is undefined is left out. */
export type Claims = Readonly<Record<string, unknown>>

export interface Issuer {
  readonly jwksUrl: string
  /** A token as the issuer makes them: for a minute, unless the claims say otherwise. */
  token: (claims?: Claims, header?: { alg?: string, kid?: string }) => Promise<string>
  /** One public key as PEM: what a confused verifier takes for a shared secret. */
  publicKey: (alg: string) => Promise<string>
  /** What is published from now on: undefined breaks the connection, a text is sent as it is. */
  publish: (document: { keys: readonly JWK[] } | string | undefined) => void
  readonly keys: readonly JWK[]
  /** How often the keys were fetched. */
  readonly fetches: () => number
}

/** An issuer of tokens that publishes its public keys over HTTP, one for each algorithm; the algorithm is the key's id. */
export async function startIssuer (t: Test, algorithms: readonly string[] = ['ES256']): Promise<Issuer> {
  const pairs = new Map<string, { privateKey: CryptoKey, publicKey: CryptoKey }>()
  for (const alg of algorithms) pairs.set(alg, await generateKeyPair(alg, { extractable: true }))
  const keys = await Promise.all(Array.from(pairs, async ([alg, { publicKey }]) => ({ ...await exportJWK(publicKey), kid: alg, alg, use: 'sig' })))
  let published: { keys: readonly JWK[] } | string | undefined = { keys }
  let fetches = 0
  const server = createServer((request, response) => {
    fetches++
    if (published === undefined) request.socket.destroy()
    else response.setHeader('content-type', 'application/json').end(typeof published === 'string' ? published : JSON.stringify(published))
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close(); server.closeAllConnections() })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port

  return {
    jwksUrl: `http://127.0.0.1:${port}/keys`,
    keys,
    fetches: () => fetches,
    publish: (document) => { published = document },
    publicKey: async (alg) => await exportSPKI(pairOf(alg).publicKey),
    token: async (claims = {}, { alg = algorithms[0] ?? '', kid = alg } = {}) => await signed(claims, pairOf(alg).privateKey, { alg, ...(kid === '' ? {} : { kid }) })
  }

  function pairOf (alg: string) {
    const pair = pairs.get(alg)
    if (pair === undefined) throw new Error(`This issuer has no key for ${alg}`)
    return pair
  }
}

export async function signed (claims: Claims, key: CryptoKey | Uint8Array, header: { alg: string, kid?: string }): Promise<string> {
  return await new SignJWT(timely(claims)).setProtectedHeader(header).sign(key)
}

/** `alg: none`: what anybody can write. */
export function unsigned (claims: Claims = {}): string {
  return new UnsecuredJWT(timely(claims)).encode()
}

export function secondsFromNow (seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

function timely (claims: Claims): Claims {
  return Object.fromEntries(Object.entries({ sub: 'ada', exp: secondsFromNow(60), ...claims }).filter(([, value]) => value !== undefined))
}
