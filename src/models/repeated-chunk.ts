/**
 * Servers send the deltas of an answer in chunks that differ in nothing but their text, and parsing the rest of each again
 * costs more than all that is done with the text. What is known of such a chunk holds for every other that has the same
 * bytes before and behind one JSON string.
 */
export interface RepeatedChunk {
  /** The text of a payload that is the known one but for it; undefined for any other. */
  textOf: (payload: string) => string | undefined
  /** Whether the payload is the known one from now on: where `read` would find any other text in its place. */
  learn: (payload: string, text: string, read: (payload: string) => unknown) => boolean
}

// An answer whose chunks differ elsewhere, by a growing count for example, is not learned over and over.
const maxLessons = 4
const plain = /^[^"\\\p{Cc}]*$/u
// Anything longer would be a slice, which keeps all of what it was cut from in memory.
const maxCopied = 12
const probe = 'another text'

export function createRepeatedChunk (): RepeatedChunk {
  let before = ''
  let behind = ''
  let lessons = 0

  return {
    textOf (payload) {
      if (before === '' || !payload.startsWith(before) || !payload.endsWith(behind) || payload.length < before.length + behind.length) return undefined
      const text = payload.slice(before.length, payload.length - behind.length)
      return text.length <= maxCopied && plain.test(text) ? text : parsed(`"${text}"`)
    },
    learn (payload, text, read) {
      if (lessons++ >= maxLessons) return false
      const literal = JSON.stringify(text)
      const at = payload.lastIndexOf(literal)
      const [head, tail] = [payload.slice(0, at + 1), payload.slice(at + literal.length - 1)]
      if (at === -1 || read(head + probe + tail) !== probe) return false
      before = head
      behind = tail
      return true
    }
  }
}

/** Undefined where the text is not one string: it holds a quote that ends it, and what follows is something else. */
function parsed (literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string // between quotes there is nothing else
  } catch {
    return undefined
  }
}
