import { APIError } from 'openai'

/** What a server has shown to understand. Starts with everything; a refusal that names a part takes it away. */
export interface Dialect {
  readonly streamOptions: boolean
  readonly responseFormat: 'json_schema' | 'json_object' | 'prompt'
  /** OpenAI's reasoning models refuse `max_tokens`; most other servers know no other name. */
  readonly outputLimit: 'max_completion_tokens' | 'max_tokens'
}

export function initialDialect (baseURL: string): Dialect {
  return { streamOptions: true, responseFormat: 'json_schema', outputLimit: isOpenAI(baseURL) ? 'max_completion_tokens' : 'max_tokens' }
}

/** The dialect to ask again in after `error`, or undefined when the refusal was about something else. */
export function simplerDialect (dialect: Dialect, error: unknown): Dialect | undefined {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return undefined
  const about = `${error.message} ${String(error.param)}`
  if (dialect.streamOptions && /stream_options|include_usage/.test(about)) return { ...dialect, streamOptions: false }
  if (dialect.responseFormat !== 'prompt' && /response_format|json_schema|json_object/.test(about)) {
    return { ...dialect, responseFormat: dialect.responseFormat === 'json_schema' ? 'json_object' : 'prompt' }
  }
  const other = dialect.outputLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  // Such a refusal names both: the one it does not take and the one to use instead.
  if (about.includes(`'${dialect.outputLimit}'`) && about.includes(`'${other}'`)) return { ...dialect, outputLimit: other }
  return undefined
}

function isOpenAI (baseURL: string): boolean {
  if (!URL.canParse(baseURL)) return false
  const { hostname } = new URL(baseURL)
  return /(^|\.)api\.openai\.com$|\.openai\.azure\.com$/.test(hostname)
}
