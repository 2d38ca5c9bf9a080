import { newId } from '../ids.ts'
import type { Owner, Placement, Placements } from './placements.ts'

interface Placed extends Placement {
  readonly owner: Owner
  readonly threadId: string
  readonly items: string[]
}

/** Of threads that end with this process. */
export function createProcessPlacements (): Placements {
  const byThread = new Map<string, Placed>()
  const byItem = new Map<string, Placed>()
  const at = (owner: Owner, threadId: string) => byThread.get(keyOf(owner, threadId))

  return {
    find: async (owner, threadId) => at(owner, threadId),
    storagesOf: async (tenantId, wanted) => [...new Set([...byThread.values()].flatMap(({ owner, threadId, storage }) => owner.tenantId === tenantId && threadId === wanted ? [storage] : []))],
    storageOfItem: async (id) => byItem.get(id)?.storage,
    claim: async ({ tenantId, ownerId }, threadId, storage) => {
      const owner = { tenantId, ownerId }
      const held = at(owner, threadId)
      if (held !== undefined && held.storage !== storage) return held
      const placed = { owner, threadId, storage, claim: newId(), items: held?.items ?? [] }
      byThread.set(keyOf(owner, threadId), placed)
      return placed
    },
    addItems: async (owner, threadId, ids) => {
      const placed = at(owner, threadId)
      if (placed === undefined) return
      placed.items.push(...ids)
      for (const id of ids) byItem.set(id, placed)
    },
    release: async (owner, threadId, claim) => {
      const placed = at(owner, threadId)
      if (placed?.claim !== claim) return
      byThread.delete(keyOf(owner, threadId))
      for (const id of placed.items) byItem.delete(id)
    },
    ofOwner: async ({ tenantId, ownerId }) => [...byThread.values()].filter(({ owner }) => owner.tenantId === tenantId && owner.ownerId === ownerId),
    storages: async () => [...new Set(Array.from(byThread.values(), ({ storage }) => storage))]
  }
}

function keyOf ({ tenantId, ownerId }: Owner, threadId: string): string {
  return JSON.stringify([tenantId, ownerId, threadId])
}
