import type { StoredArtifact } from './artifact-store.ts'

/** What callers see of an artifact. */
export function artifactView ({ id, threadId, messageId, runId, name, data, callId, sourceCallId, agentPath, createdAt }: StoredArtifact) {
  return { id, threadId, messageId, runId, name, data, callId, sourceCallId: sourceCallId ?? null, agentPath, createdAt: createdAt.toISOString() }
}
