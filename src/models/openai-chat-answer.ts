import type { Usage } from '../events/usage.ts'
import type { ModelEvent } from './model.ts'
import { createChatReader, type ChatReader } from './openai-chat-reader.ts'
import { createSseParser, type SseParser } from './sse.ts'
import { upstreamFailed } from './upstream-error.ts'

/** One answer of a chat completions server, as bytes come in. Events go to `out`; what threw before was said is in it. */
export interface ChatAnswer {
  push: (chunk: Uint8Array, out: ModelEvent[]) => void
  /** The body is at its end. Throws where it ended too early. */
  end: (out: ModelEvent[]) => void
  /** Closes the calls of an answer that broke; none of them is complete. */
  abandon: (out: ModelEvent[]) => void
  /** The answer has its `finish`; bytes that follow do not matter. */
  over: () => boolean
  /** The model has given its reason to finish; nothing but usage is still to come. */
  finishing: () => boolean
}

export interface AnswerOptions {
  readonly contentType: string
  readonly estimate: (outputCharacters: number) => Usage
  /** What reads the payloads: chunks of chat completions when absent. */
  readonly createReader?: ((options: { readonly estimate: (outputCharacters: number) => Usage }) => ChatReader) | undefined
}

type Kind = 'unknown' | 'events' | 'json'

const maxWholeBytes = 16 * 1024 * 1024

/** Reads a stream of events, or a whole JSON completion from a server that does not stream. Refuses web pages. */
export function createChatAnswer ({ contentType, estimate, createReader = createChatReader }: AnswerOptions): ChatAnswer {
  const reader = createReader({ estimate })
  const answer: AnswerState = { reader, parser: createSseParser(), whole: [], wholeBytes: 0, kind: kindOfType(contentType), over: false }
  return {
    push: (chunk, out) => { push(answer, chunk, out) },
    end: (out) => { end(answer, out) },
    abandon: reader.abandon,
    over: () => answer.over,
    finishing: reader.finishing
  }
}

interface AnswerState {
  readonly reader: ChatReader
  readonly parser: SseParser
  /** Of an answer that is no stream. */
  readonly whole: Uint8Array[]
  wholeBytes: number
  kind: Kind
  over: boolean
}

function push (answer: AnswerState, chunk: Uint8Array, out: ModelEvent[]): void {
  if (answer.kind === 'unknown') answer.kind = kindOfBytes(chunk)
  if (answer.kind === 'json') keep(answer, chunk)
  else if (readAll(answer, answer.parser.push(chunk), out)) finish(answer, out)
}

function end (answer: AnswerState, out: ModelEvent[]): void {
  if (answer.kind === 'json') {
    answer.reader.read(Buffer.concat(answer.whole).toString('utf8'), out)
    answer.reader.read('[DONE]', out)
  } else {
    readAll(answer, lastPayloads(answer), out)
  }
  finish(answer, out)
}

function finish (answer: AnswerState, out: ModelEvent[]): void {
  answer.reader.end(out)
  answer.over = true
}

function readAll (answer: AnswerState, payloads: readonly string[], out: ModelEvent[]): boolean {
  for (const payload of payloads) {
    if (answer.reader.read(payload, out)) return true
  }
  return false
}

/** An event that the end cut off is not unreadable: the answer broke, or had already ended. */
function lastPayloads (answer: AnswerState): string[] {
  return answer.parser.end().filter((payload) => payload.includes('[DONE]') || isWhole(payload))
}

function isWhole (json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false // cut, maybe behind an inner brace
  }
}

function keep (answer: AnswerState, chunk: Uint8Array): void {
  answer.wholeBytes += chunk.length
  if (answer.wholeBytes > maxWholeBytes) throw upstreamFailed('provider_unavailable', 'The model sent more in one piece than this service reads.')
  answer.whole.push(chunk)
}

function kindOfType (contentType: string): Kind {
  if (contentType.includes('text/html')) throw notAModel()
  return contentType.includes('application/json') ? 'json' : 'unknown'
}

/** Content types lie: the first character that is not blank tells. */
function kindOfBytes (chunk: Uint8Array): Kind {
  const text = Buffer.from(chunk.subarray(0, 64)).toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '').trimStart()
  if (text.startsWith('<')) throw notAModel()
  if (text.startsWith('{')) return 'json'
  return text === '' ? 'unknown' : 'events'
}

function notAModel () {
  return upstreamFailed('provider_unavailable', 'The model did not answer; something else did in its place.')
}
