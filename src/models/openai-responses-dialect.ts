import { APIError } from 'openai'

/** What a server has shown to understand. Starts with everything; a refusal that names a part takes it away. */
export interface ResponsesDialect {
  /** Reasoning in encrypted form, to be given back. Models that do not reason refuse to be asked for it. */
  readonly encryptedReasoning: boolean
  /** A summary of the reasoning, to be shown. */
  readonly reasoningSummary: boolean
  readonly responseFormat: 'json_schema' | 'json_object' | 'prompt'
}

export function initialResponsesDialect (): ResponsesDialect {
  return { encryptedReasoning: true, reasoningSummary: true, responseFormat: 'json_schema' }
}

/** The dialect to ask again in after `error`, or undefined when the refusal was about something else. */
export function simplerResponsesDialect (dialect: ResponsesDialect, error: unknown): ResponsesDialect | undefined {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return undefined
  const about = `${error.message} ${String(error.param)}`
  if (dialect.reasoningSummary && /summar/i.test(about)) return { ...dialect, reasoningSummary: false }
  if (dialect.encryptedReasoning && /encrypted|\binclude\b/i.test(about)) return { ...dialect, encryptedReasoning: false }
  if (dialect.reasoningSummary && /reasoning/i.test(about)) return { ...dialect, reasoningSummary: false }
  if (dialect.responseFormat !== 'prompt' && /text\.format|json_schema|json_object/.test(about)) {
    return { ...dialect, responseFormat: dialect.responseFormat === 'json_schema' ? 'json_object' : 'prompt' }
  }
  return undefined
}
