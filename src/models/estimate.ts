import type { Usage } from '../events/usage.ts'
import type { ModelRequest } from './model.ts'

// About four characters of English a token: the usual rule of thumb of the providers' own documentation.
const charactersPerToken = 4
// About what providers count for a picture of ordinary size.
const charactersPerImage = 4 * 765

/** Usage for a call whose provider told none; always marked as estimated where it is shown. */
export function estimateUsage (request: ModelRequest, outputCharacters: number): Usage {
  let input = request.instructions.length
  for (const message of request.messages) {
    if (message.role !== 'assistant') input += message.content.length + (message.role === 'user' ? (message.images?.length ?? 0) * charactersPerImage : 0)
    else input += message.text.length + message.toolCalls.reduce((sum, call) => sum + call.arguments.length, 0)
  }
  for (const tool of request.tools) input += tool.description.length + JSON.stringify(tool.parameters).length
  return { input: tokens(input), output: tokens(outputCharacters), reasoning: 0, cachedRead: 0, cacheWrite: 0 }
}

function tokens (characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}
