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
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let data: string | undefined
  let skipLf = false
  let begun = false

  return { push, end }

  function push (chunk: Uint8Array): string[] {
    const cut = endOfLastLine(chunk)
    if (cut === 0) {
      keep(chunk)
      return []
    }
    const text = decode(chunk, cut)
    if (cut < chunk.length) keep(chunk.subarray(cut))
    return read(withLineFeeds(text))
  }

  function end (): string[] {
    const payloads = pendingBytes === 0 ? [] : read(withLineFeeds(decode(new Uint8Array(0), 0)) + '\n')
    if (data !== undefined && data !== '') payloads.push(data)
    data = undefined
    return payloads
  }

  function keep (bytes: Uint8Array): void {
    pendingBytes += bytes.length
    if (pendingBytes > maxBytes) throw tooLarge()
    pending.push(bytes)
  }

  function decode (chunk: Uint8Array, cut: number): string {
    let text: string
    if (pendingBytes === 0) {
      text = asBuffer(chunk).toString('utf8', 0, cut)
    } else {
      text = Buffer.concat([...pending, chunk.subarray(0, cut)]).toString('utf8')
      pending = []
      pendingBytes = 0
    }
    if (begun) return text
    begun = true
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }

  function withLineFeeds (text: string): string {
    const start = skipLf && text.charCodeAt(0) === lf ? 1 : 0
    skipLf = text.charCodeAt(text.length - 1) === cr
    if (!text.includes('\r')) return start === 0 ? text : text.slice(start)
    return text.slice(start).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  }

  function read (text: string): string[] {
    const payloads: string[] = []
    let at = 0
    while (at < text.length) {
      const lineEnd = text.indexOf('\n', at)
      // By far the most common event: one whole "data: ..." line and its blank line.
      if (data === undefined && text.charCodeAt(lineEnd + 1) === lf && lineEnd > at + 6 && text.startsWith('data: ', at)) {
        payloads.push(text.slice(at + 6, lineEnd))
        at = lineEnd + 2
        continue
      }
      if (lineEnd === at) dispatch(payloads)
      else readField(text.slice(at, lineEnd))
      at = lineEnd + 1
    }
    return payloads
  }

  function dispatch (payloads: string[]): void {
    if (data !== undefined && data !== '') payloads.push(data)
    data = undefined
  }

  function readField (line: string): void {
    if (line === 'data') line = 'data:'
    if (!line.startsWith('data:')) return
    const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5)
    data = data === undefined ? value : `${data}\n${value}`
    if (data.length > maxBytes) throw tooLarge()
  }
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
