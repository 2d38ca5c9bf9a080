/** Who is asking. Every store call that touches user data takes one. */
export interface Principal {
  readonly tenantId: string
  readonly userId: string
  readonly roles: readonly string[]
  /** Whose thread is meant, where permissions open those of others to the caller; the caller's own when absent. */
  readonly ownerId?: string
}

/** The one caller of a service that runs with AUTH=none. */
export const anonymous: Principal = Object.freeze({ tenantId: 'default', userId: 'anonymous', roles: Object.freeze([]) })

export function ownerOf ({ userId, ownerId = userId }: Pick<Principal, 'userId' | 'ownerId'>): string {
  return ownerId
}

/** The caller, asking for something of this owner. */
export function askingFor (ownerId: string, { tenantId, userId, roles }: Principal): Principal {
  return ownerId === userId ? { tenantId, userId, roles } : { tenantId, userId, roles, ownerId }
}

/** The owner in the caller's place: what is kept of a thread is the owner's, whoever asks. */
export function asOwner (principal: Principal): Principal {
  const { tenantId, ownerId } = principal
  return ownerId === undefined ? principal : { tenantId, userId: ownerId, roles: [] }
}
