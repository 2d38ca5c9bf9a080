import type { Run } from './turn-store.ts'

/** A run as the API shows it: what is known to be nothing is null. */
export function runView ({ id, threadId, messageId, agentId, status, createdAt, endedAt, errorCode }: Run) {
  return { id, threadId, messageId, agentId, status, errorCode: errorCode ?? null, createdAt: createdAt.toISOString(), endedAt: endedAt?.toISOString() ?? null }
}
