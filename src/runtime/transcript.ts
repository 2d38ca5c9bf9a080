import { estimateTokens } from '../models/estimate.ts'
import type { ModelMessage } from '../models/model.ts'
import { limitText } from '../tools/serialise.ts'

// What a tool said matters for what was made of it, which stands below.
const maxResultCharacters = 1_000
const maxArgumentsCharacters = 500

/** What was said, as a text that a model can sum up, of `maxTokens` at most. */
export function transcriptOf (messages: readonly ModelMessage[], maxTokens: number): string {
  return cutToTokens(messages.flatMap(linesOf).join('\n'), maxTokens)
}

/** The head of a text that is longer than about so many tokens. */
export function cutToTokens (text: string, maxTokens: number): string {
  const tokens = estimateTokens(text)
  // A text is not equally dense everywhere: a little less than its share, so that once is enough.
  return tokens <= maxTokens ? text : limitText(text, Math.max(1, Math.floor(text.length * maxTokens / tokens * 0.9) - 80))
}

function linesOf (message: ModelMessage): string[] {
  switch (message.role) {
    case 'user': return [`User: ${message.content}`]
    case 'tool': return [`Result of ${message.toolName}: ${limitText(message.content, maxResultCharacters)}`]
    case 'assistant': return [
      ...(message.text === '' ? [] : [`Assistant: ${message.text}`]),
      ...message.toolCalls.map((call) => `Assistant calls ${call.toolName} with ${limitText(call.arguments, maxArgumentsCharacters)}`)
    ]
    default: return message satisfies never
  }
}
