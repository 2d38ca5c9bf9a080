import type { Readable } from 'node:stream'
import type { UpstreamResponse } from './upstream-fetch.ts'

/** The connection of one model call: who may cut it, and what becomes of it. */
export interface UpstreamCall {
  readonly signal: AbortSignal
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

/**
 * Links a call to `signal` with a controller of its own: the client never takes its listener off the signal it is given,
 * and a run's signal lives long.
 */
export function openUpstreamCall (signal: AbortSignal): UpstreamCall {
  signal.throwIfAborted()
  const controller = new AbortController()
  const abort = () => { controller.abort(signal.reason) }
  let body: Readable | undefined
  let grace: NodeJS.Timeout | undefined
  signal.addEventListener('abort', abort, { once: true })

  return { signal: controller.signal, took, expectEnd, close }

  function took (response: UpstreamResponse): UpstreamResponse {
    body = response.body
    body.on('error', noListener)
    return response
  }

  function expectEnd (): void {
    grace ??= setTimeout(() => { body?.destroy(new Error('No end after the finish reason')) }, endGraceMs)
  }

  function close (how: 'drain' | 'cut'): void {
    signal.removeEventListener('abort', abort)
    clearTimeout(grace)
    if (how === 'cut') controller.abort()
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
