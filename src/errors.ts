import { randomBytes } from 'node:crypto'

/**
 * Every error the service can raise: its HTTP status and whether the same request may succeed later. The code is the
 * contract (docs/errors.md is compared with this table by a test); messages may change.
 */
export const errorCodes = {
  invalid_request: { status: 400, retryable: false },
  context_overflow: { status: 400, retryable: false },
  content_filtered: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  permission_denied: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: false },
  thread_busy: { status: 409, retryable: true },
  idempotency_mismatch: { status: 409, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  file_unsupported: { status: 415, retryable: false },
  rate_limited: { status: 429, retryable: true },
  quota_exceeded: { status: 429, retryable: false },
  approval_unavailable: { status: 500, retryable: false },
  tool_failed: { status: 500, retryable: true },
  configuration_error: { status: 500, retryable: false },
  file_processing_failed: { status: 500, retryable: true },
  unknown: { status: 500, retryable: true },
  provider_unavailable: { status: 503, retryable: true },
  knowledge_unavailable: { status: 503, retryable: true },
  storage_unavailable: { status: 503, retryable: true },
  identity_unavailable: { status: 503, retryable: true },
  shutting_down: { status: 503, retryable: true },
  provider_timeout: { status: 504, retryable: true }
} as const satisfies Record<string, { status: number, retryable: boolean }>

export type ErrorCode = keyof typeof errorCodes

export function isErrorCode (code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code)
}

export interface ErrorIssue { readonly path: string, readonly message: string }

export interface ErrorDetails {
  readonly issues?: readonly ErrorIssue[]
  readonly reason?: string
  readonly runId?: string
  /** What there is already, in place of what was refused. */
  readonly existingId?: string
  /** What was not allowed. */
  readonly operation?: string
}

export interface PublicError {
  readonly code: ErrorCode
  readonly message: string
  readonly retryable: boolean
  /** 8 hex characters, the same in the reply and in the log line. */
  readonly ref: string
  readonly details?: ErrorDetails
}

export interface AppErrorOptions extends ErrorOptions {
  readonly details?: ErrorDetails
  /** How long the other side asked us to wait before the next try. */
  readonly retryAfterMs?: number
}

/** An error whose message is ours and fit for a user: never an upstream body, a key, a stack or SQL. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails | undefined
  readonly retryAfterMs: number | undefined

  constructor (code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options)
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.retryAfterMs = options.retryAfterMs
  }

  get statusCode (): number { return errorCodes[this.code].status }
}

export function isAppError (error: unknown): error is AppError {
  return error instanceof AppError
}

// Of a body that is wrong all over the first faults say enough; all of them would be longer than the body.
const maxIssues = 100

export function invalidRequest (message: string, issues: readonly ErrorIssue[] = []): AppError {
  return new AppError('invalid_request', message, issues.length === 0 ? {} : { details: { issues: issues.slice(0, maxIssues) } })
}

/** The same words for "does not exist" and "is not yours", so that neither can be told from the other. */
export function notFound (what: string): AppError {
  return new AppError('not_found', `No such ${what}.`)
}

/** Only for what the caller may see: of everything else it is told that there is no such thing. */
export function permissionDenied (operation: string): AppError {
  return new AppError('permission_denied', 'You are not allowed to do this.', { details: { operation } })
}

export function threadBusy (runId: string): AppError {
  return new AppError('thread_busy', 'This thread has a run in progress. Wait for it, follow it, or stop it.', { details: { runId } })
}

export function storageUnavailable (cause: unknown): AppError {
  return new AppError('storage_unavailable', 'The conversation store is not reachable. Try again shortly.', { cause })
}

export function shuttingDown (): AppError {
  return new AppError('shutting_down', 'The service is shutting down. Try again shortly.')
}

/** The address, which may tell of a network, is in the cause alone. */
export function addressRefused (host: string, cause: unknown): AppError {
  return new AppError('configuration_error', `The host "${host}" is at an address that this service may not reach.`, { cause })
}

/** The reason a run's signal carries when somebody stopped it; not a failure, so it has no code of its own. */
export class RunStopped extends Error {
  readonly reason: string

  constructor (reason: string) {
    super(`The run was stopped: ${reason}`)
    this.name = 'RunStopped'
    this.reason = reason
  }
}

/** The one place that decides what a client may see: our errors as they are, everything else `unknown`. */
export function toPublicError (error: unknown): PublicError {
  const ref = errorRef(error)
  if (!isAppError(error)) return { code: 'unknown', message: 'Something went wrong on our side.', retryable: true, ref }
  const { code, message, details } = error
  return { code, message, retryable: errorCodes[code].retryable, ref, ...(details === undefined ? {} : { details }) }
}

const refs = new WeakMap<object, string>()

/** One reference per error, however often it is rendered. */
function errorRef (error: unknown): string {
  const key = typeof error === 'object' && error !== null ? error : {}
  const known = refs.get(key)
  if (known !== undefined) return known
  const ref = randomBytes(4).toString('hex')
  refs.set(key, ref)
  return ref
}
