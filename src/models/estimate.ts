import type { Usage } from '../events/usage.ts'
import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'

// What a tokenizer makes of text, checked with o200k_base and cl100k_base: English has 4.4 characters a token, JSON 2,
// Russian 4.2 and 2.5, Japanese 1.6 and 1. Where they differ, more is counted than less.
const quartersPerToken = 4
const firstEastAsian = 0x2E80
// About what providers count for a picture of ordinary size.
const tokensPerImage = 765
// What stands around each message and says whose it is.
const tokensPerMessage = 4

/** About how many tokens a text takes. */
export function estimateTokens (text: string): number {
  let quarters = 0
  for (let i = 0; i < text.length; i++) quarters += quartersOf(text.charCodeAt(i))
  return Math.ceil(quarters / quartersPerToken)
}

/** About how many tokens a message takes in a request. */
export function estimateMessage (message: ModelMessage): number {
  switch (message.role) {
    case 'user': return tokensPerMessage + estimateTokens(message.content) + (message.images?.length ?? 0) * tokensPerImage
    case 'tool': return tokensPerMessage + estimateTokens(message.content)
    case 'assistant': return tokensPerMessage + estimateTokens(message.text) + estimateReasoning(message) + sum(message.toolCalls, (call) => estimateTokens(call.toolName) + estimateTokens(call.arguments))
    default: return message satisfies never
  }
}

/** About how many tokens of input a request is. */
export function estimateInput ({ instructions, messages, tools, responseSchema }: ModelRequest): number {
  const schema = responseSchema === undefined ? 0 : estimateTokens(JSON.stringify(responseSchema))
  return estimateTokens(instructions) + schema +
    sum(messages, estimateMessage) + sum(tools, estimateTool)
}

/** Usage for a call whose provider told none; always marked as estimated where it is shown. */
export function estimateUsage (request: ModelRequest, outputCharacters: number): Usage {
  return { input: estimateInput(request), output: Math.ceil(outputCharacters / quartersPerToken), reasoning: 0, cachedRead: 0, cacheWrite: 0 }
}

// Schemas outlive requests, and writing one out takes longer than counting it.
const schemaTokens = new WeakMap<ModelTool['parameters'], number>()

function estimateTool ({ name, description, parameters }: ModelTool): number {
  let tokens = schemaTokens.get(parameters)
  if (tokens === undefined) schemaTokens.set(parameters, tokens = estimateTokens(JSON.stringify(parameters)))
  return estimateTokens(name) + estimateTokens(description) + tokens
}

function estimateReasoning ({ reasoning = [] }: ModelMessage & { role: 'assistant' }): number {
  return sum(reasoning, ({ text, encryptedContent }) => estimateTokens(text) + estimateTokens(encryptedContent))
}

/** Letters and blanks of English are quarters of a token, digits, signs and most other letters halves, East Asian ones whole. */
function quartersOf (code: number): number {
  if (code >= firstEastAsian) return 4
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  return isLetter || code === 32 || code === 10 ? 1 : 2
}

function sum<T> (items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}
