import OpenAI from 'openai'
import { createUpstreamFetch, type UpstreamFetch } from './upstream-fetch.ts'

export interface OpenAIClientOptions {
  readonly baseURL: string | undefined
  /** Absent for servers that ask for none. */
  readonly apiKey: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly organization?: string | undefined
  readonly project?: string | undefined
  readonly fetch?: UpstreamFetch | undefined
}

// Longer than any deadline of ours, so that ours decide. The client takes no "none".
const noTimeoutMs = 24 * 60 * 60 * 1_000

/** A provider client that leaves retries, deadlines and logs to us and takes nothing from the environment. */
export function createOpenAIClient ({ baseURL, apiKey, headers, organization, project, fetch = createUpstreamFetch() }: OpenAIClientOptions): OpenAI {
  return new OpenAI({
    baseURL: baseURL ?? 'https://api.openai.com/v1',
    // The client insists on a key. Where there is none its header is dropped below, as `null` says.
    apiKey: apiKey ?? 'none',
    organization: organization ?? null,
    project: project ?? null,
    maxRetries: 0,
    timeout: noTimeoutMs,
    logLevel: 'off',
    fetch,
    defaultHeaders: { 'X-Stainless-Timeout': null, ...(apiKey === undefined ? { Authorization: null } : {}), ...headers }
  })
}
