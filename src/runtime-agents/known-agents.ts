import type { Agent } from '../agents/agent.ts'
import { oneAtATime } from '../streams/one-at-a-time.ts'
import type { RuntimeAgent, RuntimeAgentStore } from './runtime-agent-store.ts'

/** A runtime agent as this process knows it. */
export interface KnownAgent {
  readonly row: RuntimeAgent
  /** Absent where it cannot be made of what the configuration offers. */
  readonly agent: Agent | undefined
  /** What keeps it from being made. */
  readonly problem: string | undefined
}

/** What this process knows of runtime agents: looked up without waiting, as agents of the configuration are. */
export interface KnownAgents {
  readonly find: (id: string) => KnownAgent | undefined
  /** Those of a tenant, in the order they were made. */
  readonly of: (tenantId: string) => readonly KnownAgent[]
  readonly all: () => Iterable<KnownAgent>
  /**
   * Does something with what there is now, whichever process changed it last. One after the other, so that what is read
   * meanwhile is never put in place of what this process has changed since.
   */
  readonly upToDate: <T>(work: (change: KnownChange) => Promise<T> | T) => Promise<T>
}

/** For what was changed in the store: it counts here from now on. */
export interface KnownChange {
  /** Reads what others have changed since. */
  readonly refresh: () => Promise<void>
  readonly put: (row: RuntimeAgent) => KnownAgent
  readonly remove: (row: RuntimeAgent, revision: number) => void
}

export interface KnownAgentsOptions {
  readonly store: Pick<RuntimeAgentStore, 'revision' | 'all'>
  readonly know: (row: RuntimeAgent) => KnownAgent
}

export function createKnownAgents ({ store, know }: KnownAgentsOptions): KnownAgents {
  let byTenant = new Map<string, readonly KnownAgent[]>()
  let byId = new Map<string, KnownAgent>()
  let revision: number | undefined
  const alone = oneAtATime()

  return {
    find: (id) => byId.get(id),
    of: (tenantId) => byTenant.get(tenantId) ?? [],
    all: () => byId.values(),
    upToDate: (work) => alone('agents', async () => {
      await refresh()
      return await work({ refresh, put, remove })
    })
  }

  async function refresh (): Promise<void> {
    // Before the agents: what is changed in between is read again the next time.
    const now = await store.revision()
    if (now === revision) return
    const rows = await store.all()
    byId = new Map(rows.map((row) => [row.id, unchanged(row) ?? know(row)]))
    const grouped = new Map<string, KnownAgent[]>()
    for (const known of byId.values()) {
      const { tenantId } = known.row
      const others = grouped.get(tenantId)
      if (others === undefined) grouped.set(tenantId, [known])
      else others.push(known)
    }
    byTenant = grouped
    revision = now
  }

  function unchanged (row: RuntimeAgent): KnownAgent | undefined {
    const known = byId.get(row.id)
    return known?.row.revision === row.revision ? known : undefined
  }

  function put (row: RuntimeAgent): KnownAgent {
    const known = know(row)
    const others = byTenant.get(row.tenantId) ?? []
    byId.set(row.id, known)
    byTenant.set(row.tenantId, others.some((other) => other.row.id === row.id) ? others.map((other) => other.row.id === row.id ? known : other) : [...others, known])
    follow(row.revision)
    return known
  }

  function remove ({ id, tenantId }: RuntimeAgent, at: number): void {
    byId.delete(id)
    byTenant.set(tenantId, (byTenant.get(tenantId) ?? []).filter(({ row }) => row.id !== id))
    follow(at)
  }

  /** Where others have changed something between, all is read again. */
  function follow (next: number): void {
    if (next === (revision ?? 0) + 1) revision = next
  }
}
