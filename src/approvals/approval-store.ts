import type { Principal } from '../auth/principal.ts'
import type { Approval } from './approval.ts'

/** Approvals of an owner's threads. What is not theirs is answered as if it did not exist. Verdicts are written by turns. */
export interface ApprovalStore {
  find: (principal: Principal, approvalId: string) => Promise<Approval | undefined>
  /** Those the thread waits for, in the order they were asked; undefined without the thread. */
  pending: (principal: Principal, threadId: string) => Promise<readonly Approval[] | undefined>
  /** Pending ones of any owner whose time is up, the oldest first. */
  expired: (now: Date, limit: number) => Promise<ReadonlyArray<Approval & { readonly principal: Principal }>>
}
