import { APIError, OpenAI } from 'openai'
import { createUpstreamPost, type UpstreamPost, type UpstreamRefusal, type UpstreamResponse } from './upstream-post.ts'

export interface OpenAIClientOptions {
  readonly baseURL: string | undefined
  /** Absent for servers that ask for none. */
  readonly apiKey: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
  readonly post?: UpstreamPost | undefined
}

/** A provider with an API of OpenAI's. */
export interface OpenAIClient {
  readonly baseURL: string
  /** Throws an APIError where the provider refuses, and what its connection throws where that breaks. Never tries again. */
  readonly post: (path: string, body: object, signal: AbortSignal) => Promise<UpstreamResponse>
}

interface Address { readonly url: URL, readonly headers: Readonly<Record<string, string>> }

/**
 * A provider client that leaves retries, deadlines and logs to us and takes nothing from the environment. The package
 * says where requests go and with which headers, once for each path; sent by it, each would cost as much as its SQL.
 */
export function createOpenAIClient ({ baseURL, apiKey, headers, organization, project, post = createUpstreamPost() }: OpenAIClientOptions): OpenAIClient {
  const client = new OpenAI({
    baseURL: baseURL ?? 'https://api.openai.com/v1',
    // The client insists on a key. Where there is none its header is dropped below, as `null` says.
    apiKey: apiKey ?? 'none',
    organization: organization ?? null,
    project: project ?? null,
    logLevel: 'off',
    defaultHeaders: { 'X-Stainless-Timeout': null, ...(apiKey === undefined ? { Authorization: null } : {}), ...headers }
  })
  const addresses = new Map<string, Promise<Address>>()

  return {
    baseURL: client.baseURL,
    async post (path, body, signal) {
      const answer = await post({ ...await addressOf(path), body: JSON.stringify(body), signal })
      if ('body' in answer) return answer
      throw refused(answer)
    }
  }

  function addressOf (path: string): Promise<Address> {
    const known = addresses.get(path)
    if (known !== undefined) return known
    const made = client.buildRequest({ method: 'post', path, body: {} }).then(({ url, req }) => ({ url: new URL(url), headers: Object.fromEntries(req.headers) }))
    addresses.set(path, made)
    return made
  }
}

/** The package looks at nothing but `error` in a JSON body, so one of another shape is put there. */
function refused ({ status, headers, text }: UpstreamRefusal): APIError {
  const body = parsed(text)
  if (body === undefined) return APIError.generate(status, undefined, text, headers)
  const hasError = typeof body === 'object' && body !== null && 'error' in body
  return APIError.generate(status, hasError ? body : { error: body }, undefined, headers)
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: the text is all there is
  }
}
