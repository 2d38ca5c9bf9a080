import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'
import { numbersIn, quotedIn, speaksOf, userTexts, withoutName, wordsOf } from './offline-words.ts'
import { valueFor, type ValueSource } from './schema-value.ts'

/** The tool to call next: the one that is demanded, or one that the user's words name and that was not called yet. */
export function toolToCall ({ tools, toolChoice, messages }: ModelRequest): ModelTool | undefined {
  if (toolChoice === 'none' || tools.length === 0) return undefined
  if (typeof toolChoice === 'object') return tools.find((tool) => tool.name === toolChoice.tool)
  const text = userTexts(messages).at(-1) ?? ''
  const called = callsSinceUser(messages)
  const fresh = tools.filter((tool) => !called.has(tool.name))
  const named = fresh.find((tool) => speaksOf(text, tool.name))
  if (named !== undefined || toolChoice === 'auto') return named
  return fresh[0] ?? tools[0]
}

export function argumentsFor (tool: ModelTool, messages: readonly ModelMessage[]): string {
  const text = userTexts(messages).at(-1) ?? ''
  const value = valueFor(tool.parameters, sourceOf(withoutName(text, tool.name), { whole: text, optional: 'named' }))
  return JSON.stringify(typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {})
}

/** A user's words as a source of values. `optional: 'named'` fills only those optional fields that the words name. */
export function sourceOf (text: string, { whole = text, optional }: { whole?: string, optional: 'all' | 'named' }): ValueSource {
  const numbers = numbersIn(whole)
  const quotes = quotedIn(whole)
  const words = new Set(wordsOf(whole.toLowerCase()))
  return {
    nextNumber: () => numbers.shift(),
    textFor: (name) => afterName(whole, name) ?? quotes.shift() ?? (text === '' ? name || 'nothing' : text),
    choose: (choices) => choices.find((choice) => speaksOf(whole, choice)),
    negative: ['no', 'not', 'off', 'false', 'never', "don't", 'without'].some((word) => words.has(word)),
    optional: (name, fill) => optional === 'all' || speaksOf(whole, name) ? fill() : undefined
  }
}

/** What stands behind the name of a field, as in `city: Paris` or `city="New York"`. */
function afterName (text: string, name: string): string | undefined {
  if (!/^[\w-]+$/.test(name)) return undefined
  const match = new RegExp(`(?<![\\w-])${name}\\s*[:=]\\s*(?:"([^"]*)"|'([^']*)'|([^\\s,;]+))`, 'i').exec(text)
  return match === null ? undefined : match[1] ?? match[2] ?? match[3]
}

function callsSinceUser (messages: readonly ModelMessage[]): Set<string> {
  const start = messages.findLastIndex((message) => message.role === 'user')
  return new Set(messages.slice(start + 1).flatMap((message) => message.role === 'assistant' ? message.toolCalls.map((call) => call.toolName) : []))
}
