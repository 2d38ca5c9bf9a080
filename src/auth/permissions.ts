import { domainOf, type Domain, type Operation } from './operation.ts'
import { definePermission, narrowest, type Permission, type PermissionObject, type Scope } from './permission.ts'
import type { Principal } from './principal.ts'
import { allowAll, isOwner } from './shipped-permissions.ts'

/** Who may do what. Never asked across tenants, and never a way across them. */
export interface Permissions {
  /** Whether all of the list pass: the object's domain's, or its own where it has one. Without an object that of the operation. */
  readonly may: (principal: Principal, operation: Operation, object?: PermissionObject) => boolean
  /** What of a domain is open at most. All there is to say where `isExact`: nothing then has to be looked at one by one. */
  readonly scope: (domain: 'thread' | 'memory', principal: Principal, operation: Operation) => Scope
  readonly isExact: (domain: 'thread' | 'memory') => boolean
}

export type PermissionLists = Readonly<Record<Domain, readonly Permission[]>>

export interface PermissionsOptions {
  /** In place of the defaults. */
  readonly lists?: Partial<PermissionLists>
  readonly log?: { readonly error: (fields: object, message: string) => void } | undefined
}

/** Agents are there to be used by everybody; who manages them has to be said. */
const served = definePermission({ filter: (_principal, operation) => operation === 'manage_agent' ? 'none' : 'all' })

export const defaultPermissions: PermissionLists = { agent: [served], thread: [isOwner], memory: [isOwner], integration: [allowAll] }

export function createPermissions ({ lists: given = {}, log }: PermissionsOptions = {}): Permissions {
  const lists: PermissionLists = { ...defaultPermissions, ...given }
  const exact = { thread: lists.thread.every(isExact), memory: lists.memory.every(isExact) }

  return {
    may (principal, operation, object) {
      if (object !== undefined && 'tenantId' in object && object.tenantId !== undefined && object.tenantId !== principal.tenantId) return false
      return listOf(operation, object).every((permission) => passes(permission, principal, operation, object))
    },
    scope: (domain, principal, operation) => narrowest(lists[domain].map((permission) => scopeOf(permission, principal, operation))),
    isExact: (domain) => exact[domain]
  }

  function listOf (operation: Operation, object: PermissionObject | undefined): readonly Permission[] {
    if (object === undefined) return lists[domainOf[operation]]
    return object.kind === 'agent' ? object.permissions ?? lists.agent : lists[object.kind]
  }

  function passes (permission: Permission, principal: Principal, operation: Operation, object: PermissionObject | undefined): boolean {
    try {
      const answer: unknown = permission(principal, operation, object)
      if (typeof answer !== 'boolean') refuseAnswer(answer, operation)
      return answer === true
    } catch (error) {
      log?.error({ err: error, operation }, 'a permission failed, which denies')
      return false
    }
  }

  function scopeOf ({ filter }: Permission, principal: Principal, operation: Operation): Scope {
    try {
      return filter?.(principal, operation) ?? 'none'
    } catch (error) {
      log?.error({ err: error, operation }, 'a permission failed, which denies')
      return 'none'
    }
  }

  function refuseAnswer (answer: unknown, operation: Operation): void {
    // Nobody waits for it, so its failure is nobody's.
    if (answer instanceof Promise) answer.catch(() => {})
    log?.error({ operation, answer: typeof answer }, 'a permission answered neither true nor false, which denies')
  }
}

function isExact ({ isExact }: Permission): boolean {
  return isExact === true
}
