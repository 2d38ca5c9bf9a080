import type { ModelMessage } from '../models/model.ts'

/**
 * Remembered messages as a model is given them again: calls of tools that are not offered any more go with their
 * results, and so does a message that said nothing else. Calls and results that lack the other are left out too, since
 * providers refuse them; what is remembered may have been cut anywhere.
 */
export function replayable (messages: readonly ModelMessage[], isOffered: (toolName: string) => boolean): ModelMessage[] {
  return messages.flatMap((message, index): ModelMessage[] => {
    switch (message.role) {
      case 'user': return [message]
      case 'tool': return [] // comes with its call
      case 'assistant': {
        const results = resultsAfter(messages, index)
        const toolCalls = message.toolCalls.filter(({ callId, toolName }) => results.has(callId) && isOffered(toolName))
        if (message.text === '' && toolCalls.length === 0) return []
        return [{ ...message, toolCalls }, ...toolCalls.flatMap(({ callId }) => results.get(callId) ?? [])]
      }
      default: return message satisfies never
    }
  })
}

/** The conversation before the newest question, and from it on. */
export function splitAtQuestion (messages: readonly ModelMessage[]): { readonly earlier: readonly ModelMessage[], readonly turn: readonly ModelMessage[] } {
  const question = Math.max(messages.findLastIndex(({ role }) => role === 'user'), 0)
  return { earlier: messages.slice(0, question), turn: messages.slice(question) }
}

function resultsAfter (messages: readonly ModelMessage[], index: number): ReadonlyMap<string, ModelMessage> {
  const results = new Map<string, ModelMessage>()
  for (const message of messages.slice(index + 1)) {
    if (message.role !== 'tool') break
    results.set(message.callId, message)
  }
  return results
}
