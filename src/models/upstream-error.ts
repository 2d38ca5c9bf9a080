import { AppError, isAppError, type ErrorCode } from '../errors.ts'

/** What of an upstream failure may be kept: nothing that the other side wrote freely, since it may hold a key. */
export class UpstreamFailure extends Error {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly type: string | undefined

  constructor ({ status, code, type }: { status?: number | undefined, code?: string | undefined, type?: string | undefined }) {
    super(`Upstream failure: ${[status, type, code].filter((fact) => fact !== undefined).join(' ') || 'no details'}`)
    this.name = 'UpstreamFailure'
    this.status = status
    this.code = code
    this.type = type
  }
}

const messages = {
  provider_unavailable: 'The model is not reachable at the moment. Try again shortly.',
  provider_timeout: 'The model took too long to answer. Try again.',
  rate_limited: 'The model is handling too many requests. Try again shortly.',
  configuration_error: 'The model is not set up correctly: its provider refused the request.',
  context_overflow: 'This conversation is too long for the model.',
  content_filtered: "The request was stopped by the model provider's content filter."
} as const satisfies Partial<Record<ErrorCode, string>>

type UpstreamCode = keyof typeof messages

interface Facts {
  readonly status: number | undefined
  readonly codes: readonly string[]
  /** Read to classify, never passed on. */
  readonly text: string
  readonly hasBody: boolean
}

const overflowProse = /context[ _](length|window|size)|maximum (context|prompt|input)|prompt is too long|(input|request|prompt) (is )?too (long|large)|too many (input )?tokens|reduce the length|exceeds? .{0,40}(context|token limit|max(imum)? .{0,20}tokens)/i
const filterCodes = /content_?(policy|filter)|responsible_?ai|moderation|^safety/i
const refusedCodes = /^(authentication|permission|not_found|billing)_error$|invalid_api_key|invalid_authentication|model_not_(found|exist)|account_deactivated/i
const overloadCodes = /overloaded|server_error|service_unavailable|internal|unavailable/i

/** Translates what the provider client or its connection threw. Our own errors pass as they are. */
export function upstreamError (error: unknown): AppError {
  if (isAppError(error)) return error
  if (!isRecord(error)) return failure('provider_unavailable', {})
  const { status, headers } = error
  if (typeof status !== 'number') return connectionError(error)
  const hasBody = error.error !== undefined && error.error !== null
  const text = `${String(error.message)}`
  return classified({ status, codes: codesOf(error, error.error), text, hasBody }, headers instanceof Headers ? retryAfter(headers) : undefined)
}

/** Translates an error that came as data inside a stream that had begun well: an object, or a bare string. */
export function streamedError (error: unknown): AppError {
  if (!isRecord(error)) return failure('provider_unavailable', {})
  const status = [error.status, error.code, error.status_code].map(Number).find((value) => value >= 400 && value < 600)
  return classified({ status, codes: codesOf(error), text: `${String(error.message)}`, hasBody: true }, undefined)
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date, in milliseconds from `now`. */
export function retryAfter (headers: Headers, now = Date.now()): number | undefined {
  const precise = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (precise >= 0) return precise
  const value = headers.get('retry-after') ?? ''
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

export function upstreamFailed (code: UpstreamCode, message: string = messages[code]): AppError {
  return new AppError(code, message)
}

function classified (facts: Facts, retryAfterMs: number | undefined): AppError {
  const { status, codes } = facts
  return failure(codeOf(facts), { status, code: codes[0], type: codes[1] }, retryAfterMs)
}

function codeOf ({ status, codes, text, hasBody }: Facts): UpstreamCode {
  const named = (pattern: RegExp) => codes.some((code) => pattern.test(code))
  const canBeRequest = status === undefined || status === 400 || status === 413 || status === 422
  if (named(/insufficient_quota/)) return 'configuration_error'
  if (named(/context_length_exceeded/) || (canBeRequest && overflowProse.test(text))) return 'context_overflow'
  if ((canBeRequest || status === 403) && named(filterCodes)) return 'content_filtered'
  return status === undefined ? codeOfNames(named) : codeOfStatus(status, hasBody)
}

function codeOfStatus (status: number, hasBody: boolean): UpstreamCode {
  if (status === 408) return 'provider_timeout'
  if (status === 429) return 'rate_limited'
  if (status >= 500 || status === 409) return 'provider_unavailable'
  // A gateway's page and not the provider's word: the provider may be back in a moment.
  if (status === 404 && !hasBody) return 'provider_unavailable'
  if (status === 413) return 'context_overflow'
  return 'configuration_error'
}

function codeOfNames (named: (pattern: RegExp) => boolean): UpstreamCode {
  if (named(/rate_?limit|too_many_requests/i)) return 'rate_limited'
  if (named(refusedCodes)) return 'configuration_error'
  if (named(/timeout|timed_out/i) && !named(overloadCodes)) return 'provider_timeout'
  return 'provider_unavailable'
}

function connectionError (error: Record<string, unknown>): AppError {
  const codes = codesOf(error, error.cause)
  const timedOut = codes.some((code) => /TIMEDOUT|TIMEOUT/.test(code))
  return failure(timedOut ? 'provider_timeout' : 'provider_unavailable', { code: codes[0] })
}

function failure (code: UpstreamCode, facts: ConstructorParameters<typeof UpstreamFailure>[0], retryAfterMs?: number): AppError {
  const cause = new UpstreamFailure(facts)
  return new AppError(code, messages[code], retryAfterMs === undefined ? { cause } : { cause, retryAfterMs })
}

/** Words such as `insufficient_quota` or `ECONNRESET`; anything else, a key for example, is not taken. */
function codesOf (...sources: readonly unknown[]): string[] {
  return sources.filter(isRecord)
    .flatMap((source) => [source.code, source.type, isRecord(source.innererror) ? source.innererror.code : undefined])
    .filter((code): code is string => typeof code === 'string' && /^[A-Za-z_]{1,48}$/.test(code))
}

function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
