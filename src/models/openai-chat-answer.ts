import type { Usage } from '../events/usage.ts'
import type { ModelEvent } from './model.ts'
import { createChatReader, type ChatReader } from './openai-chat-reader.ts'
import { createSseParser } from './sse.ts'
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
  const parser = createSseParser()
  const whole: Uint8Array[] = []
  let wholeBytes = 0
  let kind: Kind = kindOfType(contentType)
  let over = false

  return { push, end, abandon: reader.abandon, over: () => over, finishing: reader.finishing }

  function push (chunk: Uint8Array, out: ModelEvent[]): void {
    if (kind === 'unknown') kind = kindOfBytes(chunk)
    if (kind === 'json') keep(chunk)
    else if (readAll(parser.push(chunk), out)) finish(out)
  }

  function end (out: ModelEvent[]): void {
    if (kind === 'json') {
      reader.read(Buffer.concat(whole).toString('utf8'), out)
      reader.read('[DONE]', out)
    } else {
      readAll(lastPayloads(), out)
    }
    finish(out)
  }

  function finish (out: ModelEvent[]): void {
    reader.end(out)
    over = true
  }

  function readAll (payloads: readonly string[], out: ModelEvent[]): boolean {
    for (const payload of payloads) {
      if (reader.read(payload, out)) return true
    }
    return false
  }

  /** An event that the end cut off is not unreadable: the answer broke, or had already ended. */
  function lastPayloads (): string[] {
    return parser.end().filter((payload) => payload.trimEnd().endsWith('}') || payload.includes('[DONE]'))
  }

  function keep (chunk: Uint8Array): void {
    wholeBytes += chunk.length
    if (wholeBytes > maxWholeBytes) throw upstreamFailed('provider_unavailable', 'The model sent more in one piece than this service reads.')
    whole.push(chunk)
  }
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
