export interface MessageIds {
  /** Names the answer; its messages are counted from here. */
  begin: (answerId: string) => void
  beginStep: () => void
  /** A block of text is a message of its own. */
  forText: () => string
  /** Calls belong to the message that the step said last; a step that said nothing gets one for its calls. */
  forCall: () => string
  forReasoning: () => string
  forResult: (callId: string) => string
}

const resultMark = ':result:'

/**
 * Ids of the messages that one answer is on this wire. The first has the answer's own id, so that it can be found; the
 * others are numbered by their place, so that a replay names them as the live stream did.
 */
export function createMessageIds (): MessageIds {
  let answer = ''
  let said = 0
  let thought = 0
  let current: string | undefined

  return {
    begin (answerId) { answer = answerId },
    beginStep () { current = undefined },
    forText: next,
    forCall: () => current ?? next(),
    forReasoning: () => `${answer}:reasoning:${++thought}`,
    forResult: (callId) => `${answer}${resultMark}${callId}`
  }

  function next (): string {
    said++
    current = said === 1 ? answer : `${answer}:${said}`
    return current
  }
}

/** Whether a client has this result of a call from the service. */
export function isOwnResult (id: string | undefined, callId: string): boolean {
  return id?.endsWith(`${resultMark}${callId}`) === true
}
