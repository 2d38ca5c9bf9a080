import { errorCodes, type ErrorCode, type PublicError } from '../../errors.ts'

export interface OpenAIErrorBody {
  readonly error: { readonly message: string, readonly type: string, readonly param: string | null, readonly code: ErrorCode }
}

/** An error as clients of OpenAI read it. The code is ours, the type is theirs, the status is the same as everywhere. */
export function errorBody ({ code, message, details }: Pick<PublicError, 'code' | 'message' | 'details'>): OpenAIErrorBody {
  return { error: { message, type: typeOf(code), param: details?.issues?.[0]?.path ?? null, code } }
}

function typeOf (code: ErrorCode): string {
  const { status } = errorCodes[code]
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}
