import type { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'

export type UpstreamFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** An answer whose body is read as a Node stream of Buffers and not as a web stream. */
export interface UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Readable
}

const maxErrorBytes = 64 * 1024
const noListener = (): void => {}

/**
 * A `fetch` for provider clients over undici's `request`: on Node 20 a body read through fetch's web stream costs a
 * third more per delta. A 2xx answer is an UpstreamResponse in the clothes of a Response; any other has its text, cut to
 * 64 KB. Redirects are not followed: a key must not travel to another host. Aborting closes the socket.
 */
export function createUpstreamFetch ({ dispatcher = createAgent() }: { readonly dispatcher?: Dispatcher } = {}): UpstreamFetch {
  return async (input, init = {}) => {
    const answer = await request(urlOf(input), {
      dispatcher,
      method: init.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)) },
      // The client serialises JSON bodies itself, so nothing but text comes here.
      body: (init.body ?? null) as string | null,
      signal: init.signal ?? null
    })
    const ok = answer.statusCode >= 200 && answer.statusCode < 300
    if (ok) return respond(answer, { body: answer.body })
    const text = withErrorKey(await readHead(answer.body))
    return respond(answer, { body: null, text: async () => text })
  }
}

function createAgent (): Agent {
  // No header and body timeouts: how long a silence may last is decided per model call, and comment pings are bytes too.
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 10_000, connect: { timeout: 10_000 } })
}

function respond ({ statusCode, headers }: Dispatcher.ResponseData, rest: { body: Readable | null, text?: () => Promise<string> }): Response {
  const flat = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  // The client reads these fields and no others of an answer that is asked for raw or that failed.
  return { ok: statusCode >= 200 && statusCode < 300, status: statusCode, headers: flat, ...rest } as unknown as Response
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

/** The client looks at nothing but `error` in a JSON body, so a body of another shape is put there. */
function withErrorKey (text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error' in body)) return JSON.stringify({ error: body })
  } catch {
    // Not JSON: the client takes the text as it is.
  }
  return text
}

function urlOf (input: string | URL | Request): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
}
