import type { AgentPath, RunEventBody } from '../events/run-event.ts'
import type { ApprovalRequest, FrameCheckpoint } from './suspension.ts'

/** The calls in a checkpoint that somebody has to allow, at every depth. */
export function approvalsOf ({ path, calls, waiting }: FrameCheckpoint, expiresAt: Date): ApprovalRequest[] {
  return waiting.flatMap((wait) => {
    if (wait.kind === 'member') return approvalsOf(wait.member, expiresAt)
    const call = calls.find(({ callId }) => callId === wait.callId)
    return wait.kind === 'client' || call === undefined ? [] : [requestFor(call, wait.approvalId, { path, expiresAt })]
  })
}

function requestFor ({ callId, toolName, input }: FrameCheckpoint['calls'][number], id: string, { path, expiresAt }: { path: AgentPath, expiresAt: Date }): ApprovalRequest {
  return { id, callId, agentPath: path, toolName, input, expiresAt }
}

/** The requests as events; a call that was hidden so far is shown first. */
export function announcements (approvals: readonly ApprovalRequest[], isAnnounced: (callId: string) => boolean): RunEventBody[] {
  return approvals.flatMap(({ id, callId, agentPath, toolName, input, expiresAt }) => {
    const by = agentPath.length === 0 ? {} : { agentPath }
    const shown: RunEventBody[] = isAnnounced(callId) ? [] : [{ type: 'tool-call-start', callId, toolName, ...by }, { type: 'tool-input-complete', callId, toolName, input, ...by }]
    return [...shown, { type: 'approval-requested', approvalId: id, callId, expiresAt: expiresAt.toISOString(), ...by }]
  })
}
