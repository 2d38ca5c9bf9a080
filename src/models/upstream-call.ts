import type { Readable } from 'node:stream'
import type { UpstreamResponse } from './upstream-post.ts'

/** The connection of one model call: what becomes of it in the end. */
export interface UpstreamCall {
  /** Takes over the body of the answer. */
  took: (response: UpstreamResponse) => UpstreamResponse
  /** Nothing but the end is awaited: the body is destroyed when that takes too long. */
  expectEnd: () => void
  /** `drain` leaves a socket that can be used again, `cut` closes it at once. */
  close: (how: 'drain' | 'cut') => void
}

const endGraceMs = 3_000
const drainMs = 1_000
const noListener = (): void => {}

export function openUpstreamCall (): UpstreamCall {
  let body: Readable | undefined
  let grace: NodeJS.Timeout | undefined

  return { took, expectEnd, close }

  function took (response: UpstreamResponse): UpstreamResponse {
    body = response.body
    body.on('error', noListener)
    return response
  }

  function expectEnd (): void {
    grace ??= setTimeout(() => { body?.destroy(new Error('No end after the finish reason')) }, endGraceMs)
  }

  function close (how: 'drain' | 'cut'): void {
    clearTimeout(grace)
    if (how === 'cut') body?.destroy()
    else if (body !== undefined) drain(body)
  }
}

/** Reads what is left, usually the last frame of the encoding, so that the socket goes back to the pool. */
function drain (body: Readable): void {
  if (body.closed || body.readableEnded) return
  const timer = setTimeout(() => { body.destroy() }, drainMs)
  timer.unref()
  body.once('close', () => { clearTimeout(timer) })
  body.resume()
}
