import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'

export interface UpstreamRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Aborting closes the socket. */
  readonly signal: AbortSignal
}

/** An answer whose body is read as a Node stream of Buffers. */
export interface UpstreamResponse {
  readonly contentType: string
  readonly body: Readable
}

/** Any answer but a 2xx: its text, cut to 64 KB. */
export interface UpstreamRefusal {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export type UpstreamPost = (request: UpstreamRequest) => Promise<UpstreamResponse | UpstreamRefusal>

const maxErrorBytes = 64 * 1024
const noListener = (): void => {}

/**
 * Posts to providers through undici's own requests: on Node 20 a body read through fetch's web stream costs a third more
 * per delta. Redirects are not followed: a key must not travel to another host.
 */
export function createUpstreamPost (): UpstreamPost {
  // No header and body timeouts: how long a silence may last is decided per model call, and comment pings are bytes too.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 10_000, connect: { timeout: 10_000 } })
  return async ({ url, headers, body, signal }) => {
    const answer = await agent.request({ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers: { ...headers, 'accept-encoding': 'identity' }, body, signal })
    const { statusCode: status, headers: { 'content-type': contentType = '' } } = answer
    if (status >= 200 && status < 300) return { contentType: String(contentType), body: answer.body }
    return { status, headers: flat(answer.headers), text: await readHead(answer.body) }
  }
}

function flat (headers: Dispatcher.ResponseData['headers']): Headers {
  const result = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return result
}

async function readHead (body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxErrorBytes) break
  }
  body.on('error', noListener)
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString('utf8')
}
