import { ReadableStream } from 'node:stream/web'
import type { Fetch } from '../egress.ts'

export interface WatchedRequest { readonly method: string, readonly body: string | undefined }

export interface WatchOptions {
  /** Bytes of the reply to one POST; what is longer fails. */
  readonly maxReplyBytes: number
  /** The body of a reply is over: it ended, broke, or nobody wanted the rest. */
  readonly onReplyEnd: (request: WatchedRequest) => void
}

/** A fetch that tells when the body of a reply is over, which the transports keep to themselves. */
export function watchedFetch (fetch: Fetch, { maxReplyBytes, onReplyEnd }: WatchOptions): Fetch {
  return async (url, init = {}) => {
    const { method = 'GET', body: sent } = init
    const response = await fetch(url, init)
    if (response.body === null) return response
    const body = watched(response.body, {
      // Streams that are listened to for as long as a connection lasts have no length.
      maxBytes: method === 'GET' ? Infinity : maxReplyBytes,
      onEnd: () => { onReplyEnd({ method, body: typeof sent === 'string' ? sent : undefined }) }
    })
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }
}

function watched (source: ReadableStream<Uint8Array>, { maxBytes, onEnd }: { maxBytes: number, onEnd: () => void }): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let bytes = 0
  return new ReadableStream({
    async pull (controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onEnd()
        throw error
      })
      bytes += value?.byteLength ?? 0
      if (!done && bytes <= maxBytes) {
        controller.enqueue(value)
        return
      }
      onEnd()
      if (done) {
        controller.close()
        return
      }
      controller.error(new Error(`The reply is longer than ${maxBytes} bytes`))
      await reader.cancel()
    },
    async cancel (reason) {
      onEnd()
      await reader.cancel(reason)
    }
  }, { highWaterMark: 0 })
}
