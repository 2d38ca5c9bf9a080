/** Who is asking. Every store call that touches user data takes one. */
export interface Principal {
  readonly tenantId: string
  readonly userId: string
  readonly roles: readonly string[]
}

/** The one caller of a service that runs with AUTH=none. */
export const anonymous: Principal = Object.freeze({ tenantId: 'default', userId: 'anonymous', roles: Object.freeze([]) })
