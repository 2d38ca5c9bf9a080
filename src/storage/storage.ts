import type { ApprovalStore } from '../approvals/approval-store.ts'
import type { ArtifactStore } from '../artifacts/artifact-store.ts'
import type { VersionedMemory } from '../memories/memory.ts'
import type { TurnStore } from '../runs/turn-store.ts'
import type { ThreadStore } from '../threads/thread-store.ts'

/** The stores of threads and of what belongs to them: what one of them writes the others show. */
export interface ThreadStores {
  readonly threads: ThreadStore
  readonly turns: TurnStore
  readonly approvals: ApprovalStore
  readonly artifacts: ArtifactStore
  readonly memories: VersionedMemory
}

/** A place that threads are kept in, whole. */
export interface Storage extends ThreadStores {
  /** Throws storage_unavailable when it does not answer. */
  readonly ping: () => Promise<void>
  /** Idempotent. */
  readonly close: () => Promise<void>
}
