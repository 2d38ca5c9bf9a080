import type { RunEventBody } from '../events/run-event.ts'

export interface AnswerLane {
  /** Says something to the user for one call: at once while it is this call's turn, later otherwise. */
  say: (callId: string, event: RunEventBody) => void
  /** The call has said all. */
  done: (callId: string) => void
}

/** Several calls of a batch may speak to the user: the first to begin is heard first, the others after it, each in whole. */
export function createAnswerLane (push: (event: RunEventBody) => void): AnswerLane {
  const held = new Map<string, { readonly events: RunEventBody[], done: boolean }>()
  let speaker: string | undefined

  return {
    say (callId, event) {
      speaker ??= callId
      if (speaker === callId) push(event)
      else lineOf(callId).events.push(event)
    },
    done (callId) {
      if (speaker === callId) next()
      else if (held.has(callId)) lineOf(callId).done = true
    }
  }

  function lineOf (callId: string) {
    const line = held.get(callId) ?? { events: [], done: false }
    held.set(callId, line)
    return line
  }

  function next (): void {
    speaker = undefined
    for (const [callId, { events, done }] of held) {
      held.delete(callId)
      events.forEach(push)
      if (!done) {
        speaker = callId
        return
      }
    }
  }
}
