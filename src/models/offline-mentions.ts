import type { ModelTool } from './model.ts'
import { phraseOf, type Phrase } from './offline-words.ts'

/** A tool that a text names, and the words that are meant for it. */
export interface Mention {
  readonly tool: ModelTool
  readonly words: string
}

type Place = Phrase & { readonly tool: ModelTool }

// What stands before a name and belongs to no tool's input. Looked for in so many characters only.
const leadIn = /(?:[\s,;.]+(?:and|then|also|after that|finally|please|ask|tell|let|have|use|call|with|to|the|an?|your))*[\s,;.]*$/i
const longestLeadIn = 60

/**
 * The tools that a text names, in its order. A stage is what may be done side by side: what stands behind a "then" waits.
 * Where several are named, each gets the words from its name to the next one.
 */
export function stagesIn (text: string, tools: readonly ModelTool[]): Mention[][] {
  const places = placesIn(text, tools)
  const stages: Mention[][] = []
  for (const [index, { tool, start }] of places.entries()) {
    const before = places[index - 1]
    const next = places[index + 1]
    const words = text.slice(before === undefined ? 0 : start, next?.start)
    if (before === undefined || /\b(?:then|after that|afterwards)\b/i.test(text.slice(before.end, start))) stages.push([])
    stages.at(-1)?.push({ tool, words: next === undefined ? words : withoutLeadIn(words) })
  }
  return stages
}

/** Of names that overlap the longer one is meant. */
function placesIn (text: string, tools: readonly ModelTool[]): Place[] {
  const found = tools.flatMap((tool) => {
    const phrase = phraseOf(text, tool.name)
    return phrase === undefined ? [] : [{ tool, ...phrase }]
  })
  const kept: Place[] = []
  for (const place of found.sort((a, b) => (b.end - b.start) - (a.end - a.start))) {
    if (kept.every(({ start, end }) => place.end <= start || place.start >= end)) kept.push(place)
  }
  return kept.sort((a, b) => a.start - b.start)
}

function withoutLeadIn (words: string): string {
  return words.slice(0, -longestLeadIn) + words.slice(-longestLeadIn).replace(leadIn, '')
}
