import type { ModelMessage } from './model.ts'
import { filesAndWords } from './offline-attachments.ts'

/** Where in a text something is named. */
export interface Phrase { readonly start: number, readonly end: number }

/** Words that carry no meaning of their own. */
const fillers: ReadonlySet<string> = new Set(('a an and are as at be but by can could do does for from had has have how i if in into is it its let me my of on or our ' +
  'please so than that the their them then there these they this those to too us was we were what when where which who why will with would you your hello hi hey tell say give').split(' '))

const quoted = /"([^"]+)"|“([^”]+)”|'([^']{2,})'(?!\w)/g

/** What users wrote, without the files that came with it. */
export function userTexts (messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => message.role === 'user' ? [filesAndWords(message.content).words] : [])
}

export function wordsOf (text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu) ?? []
}

/** Three to five of the words that say what a text is about. */
export function titleOf (text: string): string {
  const all = wordsOf(text)
  const telling = all.filter((word) => !fillers.has(word.toLowerCase()))
  const title = (telling.length >= 2 ? telling : all).slice(0, 5).join(' ')
  return title === '' ? 'New conversation' : title.charAt(0).toUpperCase() + title.slice(1)
}

/** Questions to go on with, about what the user of a written down conversation has said last. */
export function suggestionsOf (conversation: string): string[] {
  const last = [...conversation.matchAll(/^User: (.*)$/gm)].at(-1)?.[1] ?? ''
  const topic = titleOf(last)
  return [`Tell me more about: ${topic}`, `Give me an example of: ${topic}`, `What else should I know about: ${topic}?`]
}

export function numbersIn (text: string): number[] {
  return (text.match(/(?<![\p{L}\p{N}.])-?\d+(\.\d+)?/gu) ?? []).map(Number)
}

export function quotedIn (text: string): string[] {
  return [...text.matchAll(quoted)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

/** The things that a text lists behind a colon, as in `each of these: tea, salt and rope`; none where there is one only. */
export function listedIn (text: string): string[] {
  const colon = text.search(/:\s/)
  const rest = colon === -1 ? '' : text.slice(colon + 1).trim()
  const list = rest.includes('\n') ? rest : rest.split(/[.!?]\s/, 1)[0]! // on one line it ends with its sentence
  const between = list.includes('\n') ? /\n/ : list.includes(';') ? /;/ : /,|\sand\s/
  const things = list.split(between).map((thing) => thing.trim().replace(/^(?:[-*•]|\d+[.)]|and)\s/i, '').replace(/\.$/, '').trim()).filter((thing) => thing !== '')
  return things.length > 1 ? things : []
}

/** At most `length` characters, on one line. */
export function shorten (text: string, length: number): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()]
  return characters.length <= length ? characters.join('') : `${characters.slice(0, length - 1).join('').trimEnd()}…`
}

/** Whether a text speaks of a name such as `roll_dice`: its words in order, close together. */
export function speaksOf (text: string, name: string): boolean {
  return phraseOf(text, name) !== undefined
}

/** The text without the words that name the tool, which is what is left to be its input. */
export function withoutName (text: string, name: string): string {
  const phrase = phraseOf(text, name)
  if (phrase === undefined) return text
  const rest = text.slice(phrase.end).replace(/^[\s:,.;-]+/, '').replace(/^(?:about|for|of)\s/i, '').trim()
  return rest === '' ? text.slice(0, phrase.start).trim() || text : rest
}

/** Where a text speaks of a name first. */
export function phraseOf (text: string, name: string): Phrase | undefined {
  const lower = text.toLowerCase()
  const exact = lower.indexOf(name.toLowerCase())
  if (exact >= 0 && !/[\p{L}\p{N}_]/u.test((lower[exact - 1] ?? ' ') + (lower[exact + name.length] ?? ' '))) return { start: exact, end: exact + name.length }
  const parts = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '')
  const telling = parts.length > 1 && /^(get|fetch|current)$/.test(parts[0]!) ? parts.slice(1) : parts // of length at least 2
  if (telling.length === 0) return undefined
  const found = new RegExp(`(?<![\\p{L}\\p{N}])${telling.map((part) => `${part}s?`).join('(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}]+){0,2}?[^\\p{L}\\p{N}]+')}(?![\\p{L}\\p{N}])`, 'u').exec(lower)
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length }
}
