import { AppError, isAppError } from '../../errors.ts'

/** What a failed request says about its server. */
export type Verdict = 'answered' | 'failed' | 'given-up'

/** `signal` is the caller's, where there is one. */
export function verdictOf (error: unknown, signal: AbortSignal | undefined): Verdict {
  // Given up by the user is one thing, after a time that should have been enough another.
  if (signal?.aborted === true) return isAppError(signal.reason) && signal.reason.details?.reason === 'timeout' ? 'failed' : 'given-up'
  return isAnswer(error) ? 'answered' : 'failed'
}

/** Why an integration cannot be used, in words for the user: nothing of what the other side said, and no address. */
export function explain (title: string, error: unknown): string {
  const code = codeOf(error)
  if (isAppError(error) && code === 'configuration_error') return `"${title}" is at an address that this service may not reach.`
  if (isAppError(error)) return error.message
  if (code === 401 || code === 403) return `"${title}" refused the credentials it was given.`
  return code === connectionClosed ? `The connection to "${title}" was lost.` : `"${title}" is not available right now.`
}

/** The failure of a call, fit for the model and the user. */
export function callFailure (title: string, toolName: string, error: unknown, cause: Error): AppError {
  return new AppError('tool_failed', isAnswer(error) ? `The tool "${toolName}" failed.` : explain(title, error), { cause })
}

/** An error for the log: what the other side put into it may be a whole page, and may repeat a token. */
export function shortCause (error: unknown, secrets: readonly string[]): Error {
  const said = error instanceof Error ? [error.message, error.cause instanceof Error ? error.cause.message : ''].filter((text) => text !== '').join(': ') : String(error)
  return Object.assign(new Error(withoutSecrets(said, secrets).slice(0, longestCause)), { code: codeOf(error) })
}

export function withoutSecrets (text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
}

const longestCause = 500
// Of the protocol's client: of errors that no server sent.
const connectionClosed = -32_000
const requestTimeout = -32_001

function isAnswer (error: unknown): boolean {
  const code = codeOf(error)
  return error instanceof Error && error.name === 'McpError' && code !== connectionClosed && code !== requestTimeout
}

function codeOf (error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
