import type { RunEventBody } from '../events/run-event.ts'
import { isToolPart, type MessagePart, type ToolPart } from '../messages/parts.ts'
import type { ToolOutput } from '../messages/turn-request.ts'

export interface Answered {
  /** The message's parts with the answers in them. */
  readonly parts: readonly MessagePart[]
  /** The answers as events, for those who watch the message go on. */
  readonly events: readonly RunEventBody[]
  /** Calls the client still owes an answer. */
  readonly stillPending: readonly string[]
}

/** Fills in the client's answers. Only calls that wait for one take it: everything else a client says of a call is ignored. */
export function answerPending (parts: readonly MessagePart[], outputs: readonly ToolOutput[]): Answered {
  const byCall = new Map(outputs.map((output) => [output.callId, output]))
  const events: RunEventBody[] = []
  const stillPending: string[] = []
  const answered = parts.map((part) => {
    if (!isPending(part)) return part
    const given = byCall.get(part.toolCallId)
    if (given === undefined) {
      stillPending.push(part.toolCallId)
      return part
    }
    events.push(asEvent(given))
    return 'output' in given
      ? { ...part, state: 'output-available' as const, output: given.output }
      : { ...part, state: 'output-error' as const, errorText: given.errorText }
  })
  return { parts: answered, events, stillPending }
}

function isPending (part: MessagePart): part is ToolPart {
  return isToolPart(part) && part.state === 'input-available'
}

function asEvent (given: ToolOutput): RunEventBody {
  if ('output' in given) return { type: 'tool-output', callId: given.callId, output: given.output }
  return { type: 'tool-error', callId: given.callId, code: 'tool_failed', message: given.errorText }
}
