import { isToolPart, type MessagePart, type ToolPart } from './parts.ts'
import { denied, refusedInput, settle } from './tool-outcome.ts'

/**
 * Marks everything unfinished as finished: text is done, a call without a result has failed with `message`. For parts
 * whose run will not go on.
 */
export function closeParts (parts: readonly MessagePart[], message: string): readonly MessagePart[] {
  return parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.state === 'streaming' ? { ...part, state: 'done' as const } : part
    return isToolPart(part) && isUnanswered(part) ? failed(part, message) : part
  })
}

/** True while a call has no final result. */
export function isUnanswered (part: ToolPart): boolean {
  switch (part.state) {
    case 'output-available': return part.preliminary === true
    case 'output-error': case 'output-denied': return false
    default: return true
  }
}

function failed (part: ToolPart, message: string): ToolPart {
  if (part.approval !== undefined && part.approval.approved !== true) return { ...part, ...denied(part, part.approval.reason ?? message) }
  const copy = { ...part }
  if (part.state === 'input-streaming') settle(copy, refusedInput(part.rawInput ?? null, message, part.type === 'dynamic-tool'))
  else settle(copy, { state: 'output-error', input: part.input, errorText: message })
  return copy
}
