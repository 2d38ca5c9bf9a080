import type { AgentPath, RunEventBody, RunEventOf } from '../events/run-event.ts'
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

/** The requests as events. */
export function announcements (approvals: readonly ApprovalRequest[]): RunEventBody[] {
  return approvals.map(({ id, callId, agentPath, expiresAt }) => ({ type: 'approval-requested', approvalId: id, callId, expiresAt: expiresAt.toISOString(), ...byOf(agentPath) }))
}

/** What shows the calls that somebody outside has to answer, at every depth: members may be hidden, these calls cannot. */
export function hiddenCalls ({ path, calls, waiting }: FrameCheckpoint): Array<RunEventOf<'tool-call-start' | 'tool-input-complete'>> {
  return waiting.flatMap((wait) => {
    if (wait.kind === 'member') return hiddenCalls(wait.member)
    const call = calls.find(({ callId }) => callId === wait.callId)
    if (call === undefined) return []
    const { callId, toolName, input } = call
    return [{ type: 'tool-call-start', callId, toolName, ...byOf(path) }, { type: 'tool-input-complete', callId, toolName, input, ...byOf(path) }]
  })
}

function byOf (path: AgentPath): { agentPath?: AgentPath } {
  return path.length === 0 ? {} : { agentPath: path }
}
