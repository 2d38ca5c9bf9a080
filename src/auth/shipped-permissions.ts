import { definePermission, type Permission } from './permission.ts'
import { anonymous } from './principal.ts'

/** Everybody of the tenant. */
export const allowAll: Permission = definePermission({ filter: () => 'all' })

export const denyAll: Permission = definePermission({ filter: () => 'none' })

/** Whoever has said who they are: not the one caller there is with AUTH=none. */
export const isAuthenticated: Permission = definePermission({
  filter: ({ tenantId, userId }) => tenantId === anonymous.tenantId && userId === anonymous.userId ? 'none' : 'all'
})

/** Of what is the caller's own. Agents and integrations are nobody's. */
export const isOwner: Permission = definePermission({ filter: () => 'own' })

/** Callers with one of these roles, in whatever tenant. */
export function hasRole (...roles: readonly [string, ...string[]]): Permission {
  assertNames('hasRole', roles)
  return definePermission({ filter: (principal) => roles.some((role) => principal.roles.includes(role)) ? 'all' : 'none' })
}

/** Callers of one of these tenants: the group that everybody is in exactly one of. */
export function inGroup (...groups: readonly [string, ...string[]]): Permission {
  assertNames('inGroup', groups)
  return definePermission({ filter: ({ tenantId }) => groups.includes(tenantId) ? 'all' : 'none' })
}

// Without a name nobody would pass, and a list in place of names would compare with nothing.
function assertNames (what: string, names: readonly unknown[]): void {
  if (names.length === 0 || names.some((name) => typeof name !== 'string' || name === '')) throw new TypeError(`${what}: expected one name or several, as in ${what}('staff', 'support')`)
}
