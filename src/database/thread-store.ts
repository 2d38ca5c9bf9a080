import type { ThreadStore } from '../threads/thread-store.ts'
import type { StoreContext } from './client.ts'
import { createFeedbackStore } from './feedback-store.ts'
import { createHistoryStore } from './history-store.ts'
import { createThreadListStore } from './thread-list-store.ts'

export function createThreadStore (context: StoreContext): ThreadStore {
  return { ...createThreadListStore(context), ...createHistoryStore(context), ...createFeedbackStore(context) }
}
