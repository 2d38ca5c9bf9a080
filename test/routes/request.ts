import type { Test } from 'tap'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. Asserted on, not typed. */
  readonly json: ReturnType<typeof JSON.parse>
}

export interface Call {
  readonly body?: unknown
  /** Sent as it is. */
  readonly raw?: string | undefined
  readonly contentType?: string | undefined
}

/** One request; a body goes as JSON where nothing else is said. */
export async function send (url: string, method: string, path: string, { body, raw, contentType }: Call = {}): Promise<Answer> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = contentType ?? (payload === undefined ? undefined : 'application/json')
  const response = await fetch(url + path, { method, ...(payload === undefined ? {} : { body: payload }), ...(type === undefined ? {} : { headers: { 'content-type': type } }) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parse(text) }
}

export interface Refusal { readonly status: number, readonly code: string, readonly path?: string | undefined }

/** Fails unless the answer is the one JSON body of errors, with the path of the wrong field where there is one. */
export function refused (t: Test, { status, headers, text, json }: Answer, wanted: Refusal, what: string): void {
  t.equal(status, wanted.status, `${what}: ${text.slice(0, 300)}`)
  t.match(headers.get('content-type'), /^application\/json/, what)
  t.match(json, { code: wanted.code, message: /^\S.*\S$/s, retryable: Boolean, ref: /^[0-9a-f]{8}$/ }, what)
  t.strictSame(Object.keys(json ?? {}).filter((key) => !['code', 'message', 'retryable', 'ref', 'details'].includes(key)), [], what)
  t.notMatch(text, /\n\s+at |node_modules|SELECT |Prisma|FST_|ZodError/, what)
  if (wanted.path !== undefined) t.ok(json?.details?.issues?.some(({ path }: { path: string }) => path === wanted.path), `${what}: names ${wanted.path} in ${text.slice(0, 300)}`)
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not every answer is JSON; tests of those that are compare with something
  }
}
