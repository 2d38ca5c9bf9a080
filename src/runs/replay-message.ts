import type { RunEvent, RunEventBody } from '../events/run-event.ts'
import { noUsage } from '../events/usage.ts'
import { isUnanswered } from '../messages/assembler.ts'
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

function endOf ({ status, parts, finishReason, usage }: Message): RunEventBody[] {
  if (status === 'suspended') {
    return [{ type: 'run-suspended', approvals: [], pendingCalls: parts.filter(isToolPart).filter(isUnanswered).map((part) => part.toolCallId) }]
  }
  const spent: RunEventBody = { type: 'message-end', finishReason: finishReason ?? 'stop', usage: usage ?? noUsage }
  return status === 'stopped' ? [spent, { type: 'run-stopped', reason: 'stopped' }] : [spent, { type: 'run-completed' }]
}
