import type { Principal } from '../auth/principal.ts'
import { isAppError, notFound } from '../errors.ts'
import type { ClientVerdict } from '../messages/turn-request.ts'
import { judgeVerdict } from '../runs/answer-suspension.ts'
import type { ChatService } from '../runs/chat.ts'
import { refusedVerdict } from '../runs/decide-turn.ts'
import type { RunLogger } from '../runtime/log.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { Approval } from './approval.ts'
import type { ApprovalStore } from './approval-store.ts'

export interface Decided {
  readonly approval: Approval
  /** The run that goes on with the message, where this was the last thing it waited for. */
  readonly runId: string | undefined
}

export interface ApprovalService {
  /** Those the thread waits for; not_found without the thread. */
  list: (principal: Principal, threadId: string) => Promise<readonly Approval[]>
  /**
   * Decides one, once. The same verdict again changes nothing and succeeds. Throws not_found for one that is not the
   * caller's to see, permission_denied for one that they may only see, conflict with `details.reason` for a verdict that is too late or says something else.
   */
  decide: (principal: Principal, approvalId: string, verdict: { readonly approved: boolean, readonly reason?: string | undefined }) => Promise<Decided>
  /** Denies those whose time is up, of any owner, and lets their runs go on; how many. */
  expire: () => Promise<number>
}

// Of one sweep; the next one takes the rest.
const maxExpired = 100

export function createApprovalService ({ store, access, chat, log }: { readonly store: ApprovalStore, readonly access: ThreadAccess, readonly chat: ChatService, readonly log: RunLogger }): ApprovalService {
  return {
    async list (principal, threadId) {
      const approvals = await store.pending(await access.enter(principal, 'view_thread', { threadId }), threadId)
      if (approvals === undefined) throw notFound('thread')
      return approvals
    },
    async decide (principal, approvalId, { approved, reason }) {
      const asker = await access.enter(principal, 'decide_approval', { approvalId })
      const approval = await find(asker, approvalId)
      const verdict = { approvalId, approved, reason }
      const judged = judgeVerdict(approval, verdict, new Date())
      if (typeof judged === 'string') throw refusedVerdict(judged)
      const runId = judged === undefined ? undefined : await write(asker, approval, verdict)
      return { approval: await find(asker, approvalId), runId }
    },
    async expire () {
      let expired = 0
      for (const approval of await store.expired(new Date(), maxExpired)) if (await expireOne(approval)) expired++
      return expired
    }
  }

  async function write (principal: Principal, approval: Approval, verdict: ClientVerdict): Promise<string | undefined> {
    try {
      return await chat.decide(principal, approval, verdict)
    } catch (error) {
      // Decided by somebody else in the same moment: what holds now says what this verdict comes to.
      const judged = judgeVerdict(await find(principal, approval.id), verdict, new Date())
      if (typeof judged === 'string') throw refusedVerdict(judged)
      if (judged !== undefined) throw error
      return undefined
    }
  }

  async function find (principal: Principal, approvalId: string): Promise<Approval> {
    const approval = await store.find(principal, approvalId)
    if (approval === undefined) throw notFound('approval')
    return approval
  }

  async function expireOne ({ principal, ...approval }: Approval & { readonly principal: Principal }): Promise<boolean> {
    try {
      await chat.decide(principal, approval, { approvalId: approval.id, approved: false, reason: 'expired', expire: true })
      return true
    } catch (error) {
      // Decided, let go or deleted in the same moment: one that is still pending comes up again.
      if (!isAppError(error) || (error.code !== 'conflict' && error.code !== 'not_found')) log.warn({ err: error, approvalId: approval.id }, 'an approval could not be expired')
      return false
    }
  }
}
