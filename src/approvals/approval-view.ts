import type { Approval } from './approval.ts'

/** What callers see of an approval. */
export function approvalView ({ id, threadId, runId, messageId, callId, agentPath, toolName, input, status, reason, createdAt, expiresAt, decidedAt }: Approval) {
  return {
    id, threadId, runId, messageId, callId, agentPath, toolName, input, status,
    reason: reason ?? null,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null
  }
}
