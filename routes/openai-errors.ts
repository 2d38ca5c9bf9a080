import type { FastifyInstance } from 'fastify'
import type { PublicError } from '../src/errors.ts'
import { errorBody } from '../src/protocols/openai/error-body.ts'

/** Errors of the routes of this scope, its callers' credentials included, as clients of OpenAI read them. */
export function asOpenAI (app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('preSerialization', async (_request, reply, payload) => isError(payload, reply.statusCode) ? errorBody(payload) : payload)
}

/** The error handler's reply, which has its body and its status from one error. */
function isError (payload: unknown, status: number): payload is PublicError {
  return status >= 400 && typeof payload === 'object' && payload !== null && 'code' in payload && 'message' in payload
}
