import type { Page, Thread } from './thread-store.ts'

/** A thread as the API shows it: what is known to be nothing is null. */
export function threadView ({ id, ownerId, agentId, title, metadata, archived, headId, messageCount, createdAt, updatedAt, lastMessageAt }: Thread) {
  return {
    id,
    ownerId,
    agentId,
    title: title ?? null,
    metadata,
    archived,
    headId: headId ?? null,
    messageCount,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    lastMessageAt: lastMessageAt?.toISOString() ?? null
  }
}

export function pageView<T, V> ({ items, nextCursor }: Page<T>, view: (item: T) => V): { items: V[], nextCursor: string | null } {
  return { items: items.map(view), nextCursor: nextCursor ?? null }
}
