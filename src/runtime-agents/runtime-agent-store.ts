import type { RuntimeSettings } from '../agents/runtime-settings.ts'
import type { Principal } from '../auth/principal.ts'

/** For the database, which must not know agents. */
export type { RuntimeSettings }

/** A runtime agent as it is stored. */
export interface RuntimeAgent extends RuntimeSettings {
  readonly id: string
  readonly tenantId: string
  /** The user who made it. */
  readonly createdBy: string
  /** Of its last change. */
  readonly revision: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/**
 * Each change, in whatever tenant, has a revision: one more than that of the change before it. Who has seen a revision has
 * seen all changes up to it.
 */
export interface RuntimeAgentStore {
  /** Of the last change; 0 before the first one. */
  readonly revision: () => Promise<number>
  /** Those of all tenants, in the order they were made. */
  readonly all: () => Promise<readonly RuntimeAgent[]>
  readonly insert: (principal: Principal, id: string, settings: RuntimeSettings) => Promise<RuntimeAgent>
  /** Of an agent of the principal's tenant that is still at this revision; undefined, and nothing changed, otherwise. */
  readonly update: (principal: Principal, agent: Pick<RuntimeAgent, 'id' | 'revision'>, settings: RuntimeSettings) => Promise<RuntimeAgent | undefined>
  /** The revision of the change; undefined where there is no such agent in the principal's tenant. */
  readonly remove: (principal: Principal, id: string) => Promise<number | undefined>
}
