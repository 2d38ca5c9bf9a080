import { z } from 'zod'
import type { Principal } from './principal.ts'

export interface ClaimNames {
  readonly tenant: string
  readonly roles: string
}

// What is kept with every thread: short, and without what a database refuses or a log shows wrongly.
const name = z.string().regex(/^[^\p{Cc}\p{Surrogate}]{1,200}$/u)
const rolesSchema = z.union([z.array(name).max(200), z.string().transform((text) => text.split(' ').filter((role) => role !== '')).pipe(z.array(name))])

export type ReadPrincipal =
  | { readonly ok: true, readonly principal: Principal }
  | { readonly ok: false, readonly claim: string }

/**
 * The caller a verified token speaks of. A claim that is there and unusable refuses the token: a tenant that cannot be
 * read must not become the default one.
 */
export function readPrincipal (claims: Readonly<Record<string, unknown>>, names: ClaimNames): ReadPrincipal {
  const user = name.safeParse(claims['sub'])
  if (!user.success) return { ok: false, claim: 'sub' }
  const tenant = name.default('default').safeParse(claimAt(claims, names.tenant))
  if (!tenant.success) return { ok: false, claim: names.tenant }
  const roles = rolesSchema.default([]).safeParse(claimAt(claims, names.roles))
  if (!roles.success) return { ok: false, claim: names.roles }
  return { ok: true, principal: { tenantId: tenant.data, userId: user.data, roles: roles.data } }
}

/** A claim by its whole name, which may hold dots as URLs do, or by its path through nested claims. */
function claimAt (claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}
