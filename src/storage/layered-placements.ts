import type { Placements } from './placements.ts'

/** Those of this process, and those that outlive it. An id that one of both has is taken for the other. */
export function layerPlacements ({ process, lasting, memory }: { readonly process: Placements, readonly lasting: Placements, readonly memory: string }): Placements {
  const layers = [process, lasting]

  return {
    find: async (owner, threadId) => await process.find(owner, threadId) ?? await lasting.find(owner, threadId),
    storagesOf: async (tenantId, threadId) => (await Promise.all(layers.map((layer) => layer.storagesOf(tenantId, threadId)))).flat(),
    storageOfItem: async (id) => await process.storageOfItem(id) ?? await lasting.storageOfItem(id),
    claim: async (owner, threadId, storage) => {
      const [layer, other] = storage === memory ? [process, lasting] : [lasting, process]
      return await other.find(owner, threadId) ?? await layer.claim(owner, threadId, storage)
    },
    addItems: async (owner, threadId, ids) => {
      const layer = await process.find(owner, threadId) === undefined ? lasting : process
      await layer.addItems(owner, threadId, ids)
    },
    release: async (owner, threadId, claim) => { for (const layer of layers) await layer.release(owner, threadId, claim) },
    ofOwner: async (owner) => (await Promise.all(layers.map((layer) => layer.ofOwner(owner)))).flat(),
    storages: async () => (await Promise.all(layers.map((layer) => layer.storages()))).flat()
  }
}
