import type { RunEventOf } from '../../events/run-event.ts'

export interface OpenApprovals {
  ask: (event: RunEventOf<'approval-requested'>, toolName: string) => void
  /** The call has its result, so nobody is asked any more. */
  settle: (callId: string) => void
  /** Of the approvals that are still waited for: a replay announces those that are decided, too. */
  interrupts: (waitedFor: readonly string[]) => readonly object[]
}

/** What a client answers an interrupt with. */
const verdictSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved']
}

/** The approvals that a run waits for, as what interrupts it. */
export function createOpenApprovals (): OpenApprovals {
  const open = new Map<string, Readonly<Record<string, unknown>> & { readonly id: string }>()

  return {
    ask ({ approvalId, callId, expiresAt }, toolName) {
      open.set(callId, {
        id: approvalId, reason: 'tool_call', message: `"${toolName}" waits for approval.`, toolCallId: callId, responseSchema: verdictSchema,
        ...(expiresAt === '' ? {} : { expiresAt })
      })
    },
    settle: (callId) => { open.delete(callId) },
    interrupts: (waitedFor) => [...open.values()].filter(({ id }) => waitedFor.includes(id))
  }
}
