import type { MemoryThread } from '../memories/memory.ts'
import { fromEach } from './every-storage.ts'
import { routeThreads } from './routed-threads.ts'
import { routeTurns, type RoutedTurns } from './routed-turns.ts'
import type { ThreadStores } from './storage.ts'
import type { ThreadRouter } from './thread-router.ts'

export interface RoutedStores extends ThreadStores { readonly turns: RoutedTurns }

/** The stores of all storages, as of one. */
export function routeStores (router: ThreadRouter): RoutedStores {
  const { storages, log } = router
  // A memory is told of no roles, and they say nothing about where a thread is.
  const memoriesOf = async ({ principal, threadId }: MemoryThread) => (await router.of({ ...principal, roles: [] }, threadId)).memories

  return {
    threads: routeThreads(router),
    turns: routeTurns(router),
    approvals: {
      find: async (principal, approvalId) => (await router.ofItem(approvalId)).approvals.find(principal, approvalId),
      pending: async (principal, threadId) => (await router.of(principal, threadId)).approvals.pending(principal, threadId),
      expired: (now, limit) => fromEach(storages, log, ({ approvals }) => approvals.expired(now, limit))
    },
    artifacts: {
      list: async (principal, threadId, query) => (await router.of(principal, threadId)).artifacts.list(principal, threadId, query)
    },
    memories: {
      recall: async (thread) => (await memoriesOf(thread)).recall(thread),
      remember: async (thread, messages, remembering) => (await memoriesOf(thread)).remember(thread, messages, remembering)
    }
  }
}
