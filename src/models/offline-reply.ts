import type { ModelMessage, ModelRequest } from './model.ts'
import { filesAndWords, type ToldFile } from './offline-attachments.ts'
import { shorten, userTexts, wordsOf } from './offline-words.ts'

const label = 'I am the offline model: a set of rules, not a language model.'
const shownLength = 160

/** An answer in words, made of the user's own, of the files that came with them, and of what tools gave since. */
export function replyTo ({ messages }: Pick<ModelRequest, 'messages'>): string {
  const results = resultsSinceUser(messages)
  if (results.length > 0) return results.map(({ toolName, content }) => `The tool ${toolName} answered: ${shorten(content, 600)}`).join('\n\n')
  const { files, words } = filesAndWords(messages.findLast((message) => message.role === 'user')?.content ?? '')
  const earlier = userTexts(messages).slice(0, -1).filter((text) => text !== '')
  const answer = words === '' ? `${label} You sent no words that I could answer.` : recalled(words, earlier) ?? echoed(words, earlier[0])
  return [...files.map(shown), answer].join('\n\n')
}

/** Tool results that came after the last user message. */
function resultsSinceUser (messages: readonly ModelMessage[]): Array<ModelMessage & { role: 'tool' }> {
  const start = messages.findLastIndex((message) => message.role === 'user')
  return messages.slice(start + 1).filter((message) => message.role === 'tool')
}

function shown ({ name, about, text }: ToldFile): string {
  return `You attached "${name}" (${about})${text === undefined ? '' : `, which begins: "${shorten(text, shownLength)}"`}.`
}

function echoed (last: string, first: string | undefined): string {
  const said = wordsOf(last).length > 40
    ? `You wrote ${wordsOf(last).length} words that begin: "${shorten(last, shownLength)}".`
    : `You said: "${shorten(last, 400)}".`
  if (first === undefined) return `${label} ${said} Set OPENAI_API_KEY and I make room for one that can answer.`
  return `${said} Earlier you said: "${shorten(first, shownLength)}". ${label}`
}

function recalled (question: string, earlier: readonly string[]): string | undefined {
  if (/\b(what|which)\b.*\b(did i|i) (say|said|ask|asked|write|wrote|tell|told)\b|\bmy (first|last|previous) (message|question)\b/i.test(question)) {
    const text = /\b(last|previous|just|before)\b/i.test(question) ? earlier.at(-1) : earlier[0]
    return text === undefined ? 'You have said nothing before this.' : `You said: "${shorten(text, 400)}".`
  }
  const asked = /\b(?:what(?:'s|’s| is| was| are)|who(?:'s|’s| is)|do you (?:know|remember)(?: what)?|remember) my ([\p{L} ]+?)(?: is| was| are)?[?.!]*$/iu.exec(question)?.[1]?.toLowerCase()
  if (asked === undefined) return undefined
  const told = earlier.map((text) => toldIn(text, asked)).findLast((value) => value !== undefined)
  return told === undefined ? `You have not told me your ${asked}.` : `Your ${asked} is ${told}. You told me earlier.`
}

function toldIn (text: string, what: string): string | undefined {
  const stated = new RegExp(`\\bmy ${what} (?:is|are|was) ([^.,;!?\\n]+)`, 'iu').exec(text)?.[1]
  if (stated !== undefined || what !== 'name') return stated?.trim()
  return /\b(?:i am|i['’]m|call me) (\p{Lu}[\p{L}'’-]*)/u.exec(text.replace(/\bI(?= am|['’]m)/g, 'i').replace(/\bCall me/g, 'call me'))?.[1]
}
