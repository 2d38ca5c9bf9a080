import type { ModelMessage } from '../models/model.ts'
import { headOf, limitText } from '../tools/serialise.ts'

/** What a member is asked when it stopped without a word to its coordinator. */
export const reportRequest = 'Write your report now: answer your task from what you have gathered. You cannot call tools any more.'

const unfinished = 'No report was finished. What follows is partial: what the tools of this agent returned.'
const sourcesHeading = 'Sources consulted:'
const maxArgumentsShown = 200

/** What a coordinator reads of its member: the report, and which calls it rests on. */
export function reportOf (text: string, messages: readonly ModelMessage[]): string {
  return `${text.trim()}\n\n${sourcesOf(messages)}`
}

/**
 * In place of a report that was never written: the results the member got, `limit` characters in all (0 for no limit), in
 * equal shares of which what a short result leaves goes to the longer ones.
 */
export function digestOf (messages: readonly ModelMessage[], limit: number): string {
  const results = messages.flatMap((message) => message.role === 'tool' ? [{ name: message.toolName, content: message.content }] : [])
  const sources = sourcesOf(messages)
  if (results.length === 0) return `${unfinished}\n\nThere were no results.\n\n${sources}`
  const headings = results.map(({ name }) => `${name}:\n`)
  const fixed = unfinished.length + sources.length + 4 + headings.reduce((sum, heading) => sum + heading.length + 2, 0)
  const shares = limit === 0 ? results.map(() => 0) : fairShares(results.map(({ content }) => content.length), Math.max(limit - fixed, results.length))
  const sections = results.map(({ content }, index) => `${headings[index]}${cut(content, shares[index] ?? 0)}`)
  return [unfinished, ...sections, sources].join('\n\n')
}

/** Equal shares of `total`, where what one does not need is shared by the rest. */
export function fairShares (needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0)
  const order = needs.map((_need, index) => index).sort((a, b) => needs[a]! - needs[b]!) // both are indices of needs
  let left = total
  for (const [done, index] of order.entries()) {
    const share = Math.min(needs[index]!, Math.floor(left / (order.length - done)))
    shares[index] = share
    left -= share
  }
  return shares
}

function cut (text: string, share: number): string {
  return share === 0 || text.length <= share ? text : headOf(text, share)
}

function sourcesOf (messages: readonly ModelMessage[]): string {
  const calls = messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls : [])
  const lines = calls.map(({ toolName, arguments: input }) => `- ${toolName}(${limitText(input, maxArgumentsShown)})`)
  return [sourcesHeading, ...lines.length === 0 ? ['none'] : lines].join('\n')
}
