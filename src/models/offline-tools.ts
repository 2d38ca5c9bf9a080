import type { ModelMessage, ModelRequest, ModelTool } from './model.ts'
import { stagesIn, type Mention } from './offline-mentions.ts'
import { listedIn, numbersIn, quotedIn, speaksOf, userTexts, withoutName, wordsOf } from './offline-words.ts'
import { valueFor, type ValueSource } from './schema-value.ts'

export interface OfflineCall {
  readonly toolName: string
  /** The text of one JSON object. */
  readonly arguments: string
}

const mostOfOneTool = 8

/** The calls to make now: the one that is demanded, or those that the user's words name next and that were not made yet. */
export function callsToMake ({ tools, toolChoice, messages }: ModelRequest): OfflineCall[] {
  if (toolChoice === 'none' || tools.length === 0) return []
  const text = userTexts(messages).at(-1) ?? ''
  if (typeof toolChoice === 'object') return tools.filter(({ name }) => name === toolChoice.tool).map((tool) => callOf(tool, text))
  const called = callsSinceUser(messages)
  const isFresh = ({ name }: ModelTool) => !called.has(name)
  const stage = stagesIn(text, tools).map((mentions) => mentions.filter(({ tool }) => isFresh(tool))).find((mentions) => mentions.length > 0)
  if (stage !== undefined) return stage.flatMap(callsOf)
  return toolChoice === 'auto' ? [] : [callOf(tools.find(isFresh) ?? tools[0]!, text)] // there is one
}

/** One call, or one for each of the things that its words list. */
function callsOf ({ tool, words }: Mention): OfflineCall[] {
  const things = /\beach\b/i.test(words) ? listedIn(words) : []
  return (things.length === 0 ? [words] : things.slice(0, mostOfOneTool)).map((text) => callOf(tool, text))
}

function callOf ({ name, parameters }: ModelTool, text: string): OfflineCall {
  const value = valueFor(parameters, sourceOf(withoutName(text, name), { whole: text, optional: 'named' }))
  return { toolName: name, arguments: JSON.stringify(typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) }
}

/** A user's words as a source of values. `optional: 'named'` fills only those optional fields that the words name. */
export function sourceOf (text: string, { whole = text, optional }: { whole?: string, optional: 'all' | 'named' }): ValueSource {
  const numbers = numbersIn(whole)
  const quotes = quotedIn(whole)
  const words = new Set(wordsOf(whole.toLowerCase()))
  return {
    nextNumber: () => numbers.shift(),
    numbersLeft: () => numbers.length,
    textFor: (name) => afterName(whole, name) ?? quotes.shift() ?? (text === '' ? name || 'nothing' : text),
    listed: listedIn(whole),
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
