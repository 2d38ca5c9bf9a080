import type { Principal } from '../auth/principal.ts'
import type { Page } from '../threads/thread-store.ts'
import type { ContainedArtifact } from './artifacts-in.ts'

/** An artifact of a thread, as it was made. */
export interface StoredArtifact extends ContainedArtifact {
  readonly threadId: string
  readonly messageId: string
  readonly runId: string
  /** The agent that made it. */
  readonly agentId: string
  readonly createdAt: Date
}

export interface ArtifactQuery { readonly limit: number, readonly cursor?: string | undefined }

/**
 * Artifacts of an owner's threads. They are written by turns, in the transaction that stores their message, and go and
 * come back with it.
 */
export interface ArtifactStore {
  /** Those of all messages that history can show, on every branch, newest first; undefined without the thread. */
  list: (principal: Principal, threadId: string, query: ArtifactQuery) => Promise<Page<StoredArtifact> | undefined>
}
