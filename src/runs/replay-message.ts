import type { RunEvent, RunEventBody } from '../events/run-event.ts'
import { noUsage } from '../events/usage.ts'
import { isUnanswered } from '../messages/close-parts.ts'
import { isToolPart } from '../messages/parts.ts'
import type { Message } from '../threads/message.ts'

/** A stored answer, from its part `heldParts` on, as the short stream of a run that said it all at once. */
export async function * replayMessage (message: Message, threadId: string, heldParts: number): AsyncGenerator<readonly RunEvent[], void> {
  const bodies: RunEventBody[] = [
    { type: 'message-start', messageId: message.id, runId: message.runId ?? '', threadId, agentId: '', model: message.model ?? '', continued: heldParts > 0 },
    { type: 'snapshot', parts: message.parts.slice(heldParts) },
    ...endOf(message)
  ]
  const at = message.createdAt.toISOString()
  yield bodies.map((body, seq) => ({ ...body, seq, at }))
}

function endOf ({ status, parts, finishReason, usage, processingMs }: Message): RunEventBody[] {
  const took = processingMs === undefined ? {} : { processingMs }
  if (status === 'suspended') {
    const open = parts.filter(isToolPart).filter(isUnanswered)
    const asked = open.filter((part) => part.state === 'approval-requested')
    // A delegation waits for its member, not for the client; what is decided waits for the rest.
    const pending = open.filter((part) => part.state === 'input-available' && part.callProviderMetadata?.['parley']?.['handoff'] === undefined)
    return [{ type: 'run-suspended', approvals: asked.flatMap(({ approval }) => approval?.id ?? []), pendingCalls: pending.map(({ toolCallId }) => toolCallId), ...took }]
  }
  const spent: RunEventBody = { type: 'message-end', finishReason: finishReason ?? 'stop', usage: usage ?? noUsage }
  return status === 'stopped' ? [spent, { type: 'run-stopped', reason: 'stopped', ...took }] : [spent, { type: 'run-completed', ...took }]
}
