import { AppError } from '../errors.ts'

export interface SseParser {
  /** The data of every event that this chunk completes, in order; events without data are left out. */
  push: (chunk: Uint8Array) => string[]
  /** What a stream without a last blank line still held. Some servers end right behind their last event. */
  end: () => string[]
}

const maxEventBytes = 4 * 1024 * 1024
const lf = 0x0a
const cr = 0x0d

/**
 * Reads server-sent events from bytes cut anywhere: only whole lines are decoded, so no character is ever split. Field
 * names other than `data` are ignored. An event over `maxBytes` throws provider_unavailable.
 */
export function createSseParser ({ maxBytes = maxEventBytes }: { readonly maxBytes?: number } = {}): SseParser {
  const parser: ParserState = { maxBytes, pending: [], pendingBytes: 0, data: undefined, skipLf: false, begun: false }
  return { push: (chunk) => push(parser, chunk), end: () => end(parser) }
}

/** Not variables of the parser: functions that share them would be made anew for every answer, which weighs more than all of this. */
interface ParserState {
  readonly maxBytes: number
  /** Bytes of a line that has not ended. */
  pending: Uint8Array[]
  pendingBytes: number
  data: string | undefined
  skipLf: boolean
  begun: boolean
}

function push (parser: ParserState, chunk: Uint8Array): string[] {
  const cut = endOfLastLine(chunk)
  if (cut === 0) {
    keep(parser, chunk)
    return []
  }
  const text = decode(parser, chunk, cut)
  if (cut < chunk.length) keep(parser, chunk.subarray(cut))
  return read(parser, withLineFeeds(parser, text))
}

function end (parser: ParserState): string[] {
  const payloads = parser.pendingBytes === 0 ? [] : read(parser, withLineFeeds(parser, decode(parser, new Uint8Array(0), 0)) + '\n')
  if (parser.data !== undefined && parser.data !== '') payloads.push(parser.data)
  parser.data = undefined
  return payloads
}

function keep (parser: ParserState, bytes: Uint8Array): void {
  parser.pendingBytes += bytes.length
  if (parser.pendingBytes > parser.maxBytes) throw tooLarge()
  parser.pending.push(bytes)
}

function decode (parser: ParserState, chunk: Uint8Array, cut: number): string {
  let text: string
  if (parser.pendingBytes === 0) {
    text = asBuffer(chunk).toString('utf8', 0, cut)
  } else {
    text = Buffer.concat([...parser.pending, chunk.subarray(0, cut)]).toString('utf8')
    parser.pending = []
    parser.pendingBytes = 0
  }
  if (parser.begun) return text
  parser.begun = true
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

function withLineFeeds (parser: ParserState, text: string): string {
  const start = parser.skipLf && text.charCodeAt(0) === lf ? 1 : 0
  parser.skipLf = text.charCodeAt(text.length - 1) === cr
  if (!text.includes('\r')) return start === 0 ? text : text.slice(start)
  return text.slice(start).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}

function read (parser: ParserState, text: string): string[] {
  const payloads: string[] = []
  let at = 0
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at)
    // By far the most common event: one whole "data: ..." line and its blank line.
    if (parser.data === undefined && text.charCodeAt(lineEnd + 1) === lf && lineEnd > at + 6 && text.startsWith('data: ', at)) {
      payloads.push(text.slice(at + 6, lineEnd))
      at = lineEnd + 2
      continue
    }
    if (lineEnd === at) dispatch(parser, payloads)
    else readField(parser, text.slice(at, lineEnd))
    at = lineEnd + 1
  }
  return payloads
}

function dispatch (parser: ParserState, payloads: string[]): void {
  if (parser.data !== undefined && parser.data !== '') payloads.push(parser.data)
  parser.data = undefined
}

function readField (parser: ParserState, line: string): void {
  if (line === 'data') line = 'data:'
  if (!line.startsWith('data:')) return
  const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5)
  parser.data = parser.data === undefined ? value : `${parser.data}\n${value}`
  if (parser.data.length > parser.maxBytes) throw tooLarge()
}

function endOfLastLine (chunk: Uint8Array): number {
  const last = chunk.lastIndexOf(lf) + 1
  return last === chunk.length ? last : Math.max(last, chunk.lastIndexOf(cr) + 1)
}

function asBuffer (chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

function tooLarge (): AppError {
  return new AppError('provider_unavailable', 'The model sent more in one piece than this service reads.')
}
