import type { Duplex } from 'node:stream'
import fp from 'fastify-plugin'
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { AppError, invalidRequest, isAppError, toPublicError, type ErrorIssue } from '../src/errors.ts'

// Ids are at most 200 characters; what is longer exists nowhere.
export const maxParamLength = 200

/** For what goes wrong before there is a route, which no error handler sees. */
export function answerFrameworkError (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answer(translate(error), request, reply)
}

/** For what is no request at all: the connection is answered as well as it can be, and closed. */
export function answerClientError (error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = clientErrors[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.']
  const body = JSON.stringify(toPublicError(new AppError('invalid_request', message, { cause: error })))
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  socket.destroy()
}

const clientErrors: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.']
}

/** One throw, one JSON body: `{code, message, retryable, ref, details?}`, whatever went wrong and wherever. */
export default fp(async (app) => {
  app.setErrorHandler((error: unknown, request, reply) => answer(translate(error), request, reply))
  app.setNotFoundHandler((request, reply) => answer(new AppError('not_found', 'No such route.'), request, reply))
}, { name: 'errors' })

function answer (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body = toPublicError(error)
  const status = isAppError(error) ? error.statusCode : 500
  const fields = { err: error, ref: body.ref, code: body.code }
  if (status >= 500) request.log.error(fields, 'request failed')
  else request.log.info({ ref: body.ref, code: body.code }, 'request refused')
  if (isAppError(error) && error.retryAfterMs !== undefined) void reply.header('retry-after', String(Math.ceil(error.retryAfterMs / 1000)))
  return reply.code(status).type('application/json').send(body)
}

/** What Fastify and its schema check throw, in our words. */
function translate (error: unknown): unknown {
  if (isAppError(error)) return error
  if (hasZodFastifySchemaValidationErrors(error)) {
    const issues = error.validation.flatMap((fault) => issuesOf(fault, error.validationContext ?? 'body'))
    const first = issues[0]
    return invalidRequest(first === undefined ? 'The request is not valid.' : `${first.path}: ${first.message}`, issues)
  }
  const { code, statusCode } = error as Partial<FastifyError>
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('payload_too_large', 'The request body is too large.', { cause: error })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return bodyFault('expected content-type application/json', error)
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new AppError('not_found', 'No such route.', { cause: error })
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY') return bodyFault('expected valid JSON without the keys "__proto__" and "constructor.prototype"', error)
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new AppError('invalid_request', 'The request is not valid HTTP for this service.', { cause: error })
  return error
}

/** An unknown field is an issue of its own, under its own name. */
function issuesOf ({ instancePath, keyword, params, message = 'is not valid' }: FastifySchemaValidationError, context: string): ErrorIssue[] {
  const path = instancePath.slice(1).replaceAll('/', '.')
  if (keyword !== 'unrecognized_keys' || !Array.isArray(params['keys'])) return [{ path: path || context, message }]
  return params['keys'].map((key) => ({ path: [path, String(key)].filter((part) => part !== '').join('.'), message: 'there is no such field' }))
}

function bodyFault (message: string, cause: unknown): AppError {
  return new AppError('invalid_request', `body: ${message}`, { cause, details: { issues: [{ path: 'body', message }] } })
}
