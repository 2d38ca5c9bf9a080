import type { Operation } from '../auth/operation.ts'
import { narrowest, type Scope, type ThreadObject } from '../auth/permission.ts'
import type { Permissions } from '../auth/permissions.ts'
import { askingFor, type Principal } from '../auth/principal.ts'
import { AppError, notFound, permissionDenied } from '../errors.ts'
import type { Thread, ThreadPlace, ThreadStore } from './thread-store.ts'

/**
 * The way to threads and what belongs to them. Each method gives the principal that stores are then asked with: the caller,
 * with the owner of a thread that is not their own. Where everybody keeps to what is theirs, nothing is read for it: the
 * store then says itself that there is no such thing.
 */
export interface ThreadAccess {
  /** Throws not_found for a thread that the caller may not view, permission_denied where viewing is all they may. */
  readonly enter: (principal: Principal, operation: Operation, place: ThreadPlace) => Promise<Principal>
  /** The same for a thread that is made on first use: one that the caller may not view is no thread of theirs. */
  readonly enterOrMake: (principal: Principal, operation: Operation, place: { readonly threadId: string, readonly agentId: string | undefined }) => Promise<Principal>
  /** Undefined for a thread that the caller may not view. */
  readonly look: (principal: Principal, place: ThreadPlace) => Promise<Principal | undefined>
  /** Throws permission_denied where the caller may have no thread. */
  readonly assertMayMake: (principal: Principal, operation: Operation, thread: NewThreadPlace) => void
  /** Whose threads a list shows; permission_denied for a caller who may not list any. */
  readonly listed: (principal: Principal) => Scope
  /** Throws permission_denied where the operation is not allowed at all. */
  readonly assertMay: (principal: Principal, operation: Operation) => void
  /** Of a thread that the caller may view. */
  readonly may: (principal: Principal, operation: Operation, thread: Thread) => boolean
  /** Whether an operation on many threads has to ask for each of them. */
  readonly asksForEach: boolean
}

interface NewThreadPlace { readonly threadId: string, readonly agentId: string | undefined, readonly metadata?: ThreadObject['metadata'] | undefined }

export function createThreadAccess ({ permissions, store }: { readonly permissions: Permissions, readonly store: Pick<ThreadStore, 'locate'> }): ThreadAccess {
  const isExact = permissions.isExact('thread')
  const scopeOf = (principal: Principal, operation: Operation) => permissions.scope('thread', principal, operation)

  return {
    async enter (principal, operation, place) {
      if (keepsToOwn(principal, operation)) return principal
      const thread = visible(principal, await locate(principal, place))
      if (thread === undefined) throw notFound(nameOf(place))
      return inside(principal, operation, thread)
    },
    async enterOrMake (principal, operation, place) {
      if (keepsToOwn(principal, operation)) return principal
      const found = await locate(principal, place)
      const thread = visible(principal, found)
      if (thread !== undefined) return inside(principal, operation, thread)
      // One of their own that they may not view is in the way of a new one.
      if (found.some(({ ownerId }) => ownerId === principal.userId)) throw notFound('thread')
      assertMayMake(principal, operation, place)
      return principal
    },
    async look (principal, place) {
      if (keepsToOwn(principal, 'view_thread')) return principal
      const thread = visible(principal, await locate(principal, place))
      return thread === undefined ? undefined : askingFor(thread.ownerId, principal)
    },
    assertMayMake,
    listed (principal) {
      assertMay(principal, 'list_threads')
      return narrowest([scopeOf(principal, 'list_threads'), scopeOf(principal, 'view_thread')])
    },
    assertMay,
    may,
    asksForEach: !isExact
  }

  /** Whether the caller reaches their own threads only, and there is nothing more to be asked about those. */
  function keepsToOwn (principal: Principal, operation: Operation): boolean {
    return isExact && scopeOf(principal, 'view_thread') === 'own' && scopeOf(principal, operation) !== 'none'
  }

  function may (principal: Principal, operation: Operation, thread: Thread): boolean {
    return permissions.may(principal, operation, objectOf(principal, thread))
  }

  function assertMay (principal: Principal, operation: Operation): void {
    if (!permissions.may(principal, operation)) throw permissionDenied(operation)
  }

  async function locate (principal: Principal, place: ThreadPlace): Promise<readonly Thread[]> {
    return await store.locate(principal, place, scopeOf(principal, 'view_thread') === 'all' ? 'all' : 'own')
  }

  /** The caller's own before one of another: ids are unique for each owner only. */
  function visible (principal: Principal, found: readonly Thread[]): Thread | undefined {
    const [first, ...others] = found.filter((thread) => may(principal, 'view_thread', thread))
    if (first === undefined || first.ownerId === principal.userId || others.length === 0) return first
    throw new AppError('conflict', 'Several people have a thread with this id, and none of them is you.')
  }

  function inside (principal: Principal, operation: Operation, thread: Thread): Principal {
    if (!may(principal, operation, thread)) throw permissionDenied(operation)
    return askingFor(thread.ownerId, principal)
  }

  function assertMayMake (principal: Principal, operation: Operation, { threadId: id, agentId, metadata = {} }: NewThreadPlace): void {
    const { tenantId, userId: ownerId } = principal
    if (!permissions.may(principal, operation, { kind: 'thread', id, tenantId, ownerId, agentId, metadata })) throw permissionDenied(operation)
  }
}

function objectOf ({ tenantId }: Principal, { id, ownerId, agentId, metadata }: Thread): ThreadObject {
  return { kind: 'thread', id, tenantId, ownerId, agentId, metadata }
}

function nameOf (place: ThreadPlace): string {
  return 'threadId' in place ? 'thread' : 'runId' in place ? 'run' : 'approval'
}
