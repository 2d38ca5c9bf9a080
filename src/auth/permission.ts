import type { Operation } from './operation.ts'
import type { Principal } from './principal.ts'

/** What an operation is done to. Of a thread's files, ratings, runs and approvals it is the thread. */
export type PermissionObject = AgentObject | ThreadObject | MemoryObject | { readonly kind: 'integration', readonly name: string }

/** An agent has no owner. One of the configuration is of no tenant, a runtime agent of that of who made it. */
export interface AgentObject {
  readonly kind: 'agent'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly meta: Readonly<Record<string, unknown>>
  readonly tenantId?: string
  /** Its own list, in place of the domain's. */
  readonly permissions?: readonly Permission[] | undefined
}

export interface ThreadObject {
  readonly kind: 'thread'
  readonly id: string
  readonly tenantId: string
  readonly ownerId: string
  /** Undefined for a thread that is about to be made, for an agent that is not known yet. */
  readonly agentId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface MemoryObject {
  readonly kind: 'memory'
  readonly id: string
  readonly tenantId: string
  readonly ownerId: string
}

/** Of all there is in the caller's tenant. */
export type Scope = 'all' | 'own' | 'none'
export type Filter = (principal: Principal, operation: Operation) => Scope
export type Check = (principal: Principal, operation: Operation, object?: PermissionObject) => boolean

/**
 * Whether somebody may do something. It answers at once, because it is also asked inside of a transaction and for each of
 * many agents: anything but `true` denies, a promise too. Without an object it is asked whether it may be done at all.
 */
export interface Permission extends Check {
  /** What it opens, said without looking at each object: what lists are read by. */
  readonly filter?: Filter
  /** The filter says all there is to say. */
  readonly isExact?: boolean
}

/**
 * A permission for domains whose lists are read from a database. `filter` alone is enough; `check` narrows it down for one
 * object and never widens it.
 */
export function definePermission ({ filter, check }: { readonly filter: Filter, readonly check?: Check }): Permission {
  if (typeof filter !== 'function') throw new TypeError("definePermission: expected a filter, a function that answers 'all', 'own' or 'none'")
  const within: Check = (principal, operation, object) => isWithin(filter(principal, operation), principal, object)
  const whole: Check = check === undefined ? within : (principal, operation, object) => within(principal, operation, object) && check(principal, operation, object) === true
  return Object.freeze(Object.assign(whole, { filter, isExact: check === undefined }))
}

/** Passes where one of them does. */
export function anyOf (...permissions: readonly [Permission, ...Permission[]]): Permission {
  const some: Check = (principal, operation, object) => permissions.some((permission) => permission(principal, operation, object) === true)
  const filters = permissions.flatMap(({ filter }) => filter ?? [])
  if (filters.length < permissions.length) return some
  return combined(some, permissions, (principal, operation) => widest(filters.map((filter) => filter(principal, operation))))
}

/** Asked about these operations only, and passed by all others. */
export function forOperations (operations: readonly Operation[], permission: Permission): Permission {
  const asked: Check = (principal, operation, object) => !operations.includes(operation) || permission(principal, operation, object)
  const { filter } = permission
  return filter === undefined ? asked : combined(asked, [permission], (principal, operation) => operations.includes(operation) ? filter(principal, operation) : 'all')
}

const scopes: readonly unknown[] = ['none', 'own', 'all'] satisfies readonly Scope[]

/** The one that all allow. What is no scope is none. */
export function narrowest (given: readonly Scope[]): Scope {
  return scopes[Math.max(0, Math.min(...given.map((scope) => scopes.indexOf(scope))))] as Scope // each of them is one
}

function widest (given: readonly Scope[]): Scope {
  return scopes[Math.max(0, ...given.map((scope) => scopes.indexOf(scope)))] as Scope // each of them is one
}

function combined (check: Check, parts: readonly Permission[], filter: Filter): Permission {
  return Object.freeze(Object.assign(check, { filter, isExact: parts.every(({ isExact }) => isExact === true) }))
}

function isWithin (scope: Scope, { userId }: Principal, object: PermissionObject | undefined): boolean {
  if (scope !== 'own') return scope === 'all'
  return object === undefined || ('ownerId' in object && object.ownerId === userId)
}
