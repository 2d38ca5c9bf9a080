import type { Principal } from '../auth/principal.ts'
import { AppError } from '../errors.ts'
import type { Thread, ThreadStore } from '../threads/thread-store.ts'
import { mergedList } from './merged-list.ts'
import { databaseName, type ThreadRouter } from './thread-router.ts'

/** The threads of all storages, as of one. */
export function routeThreads (router: ThreadRouter): ThreadStore {
  const of = async (principal: Principal, threadId: string) => (await router.of(principal, threadId)).threads

  return {
    create: async (principal, thread) => {
      const made = await router.make(principal, thread.id, router.storageOf(thread.agentId), ({ threads }) => threads.create(principal, thread))
      if (made.kind === 'elsewhere') throw new AppError('conflict', 'You already have a thread with this id.')
      return made.result
    },
    get: async (principal, threadId) => (await of(principal, threadId)).get(principal, threadId),
    locate: async (principal, place, whose) => {
      if (!('threadId' in place)) return await (await router.ofItem('runId' in place ? place.runId : place.approvalId)).threads.locate(principal, place, whose)
      const storages = whose === 'own' ? [await router.of(principal, place.threadId)] : await router.anyOf(principal.tenantId, place.threadId)
      return ownFirst(principal, (await Promise.all(storages.map(({ threads }) => threads.locate(principal, place, whose)))).flat())
    },
    list: (principal, query) => mergedList(new Map(Array.from(router.storages, ([name, { threads }]) => [name, threads])), principal, query),
    update: async (principal, threadId, patch) => (await of(principal, threadId)).update(principal, threadId, patch),
    remove: (principal, threadId) => router.remove(principal, threadId, ({ threads }) => threads.remove(principal, threadId)),
    removeAll: async (principal) => {
      const owner = { tenantId: principal.tenantId, ownerId: principal.userId }
      const placed = await router.placements.ofOwner(owner)
      let removed = 0
      for (const { threads } of router.storages.values()) removed += await threads.removeAll(principal)
      for (const { storage, threadId, claim } of placed) if (storage !== databaseName && router.storages.has(storage)) await router.placements.release(owner, threadId, claim)
      return removed
    },

    history: async (principal, threadId, query) => (await of(principal, threadId)).history(principal, threadId, query),
    siblings: async (principal, threadId, messageId, query) => (await of(principal, threadId)).siblings(principal, threadId, messageId, query),
    removeMessage: async (principal, threadId, messageId) => (await of(principal, threadId)).removeMessage(principal, threadId, messageId),
    restoreMessage: async (principal, threadId, messageId) => (await of(principal, threadId)).restoreMessage(principal, threadId, messageId),
    rate: async (principal, threadId, messageId, rating) => (await of(principal, threadId)).rate(principal, threadId, messageId, rating),
    unrate: async (principal, threadId, messageId) => (await of(principal, threadId)).unrate(principal, threadId, messageId),
    usage: async (principal, threadId) => (await of(principal, threadId)).usage(principal, threadId)
  }
}

function ownFirst ({ userId }: Principal, threads: readonly Thread[]): readonly Thread[] {
  return [...threads.filter(({ ownerId }) => ownerId === userId), ...threads.filter(({ ownerId }) => ownerId !== userId)]
}
