import { z } from 'zod'
import type { Answer, RouteReference } from '../../plugins/openapi.ts'
import { errorCodes, type ErrorCode } from '../../src/errors.ts'
import { errorShape, openaiErrorShape } from './shapes.ts'

export const tags = [
  { name: 'Chat', description: 'Sending messages and streaming answers' },
  { name: 'Messages', description: 'History, branches and ratings' },
  { name: 'Approvals', description: 'Calls that wait until somebody allows them' },
  { name: 'Artifacts', description: 'What agents give their users' },
  { name: 'Threads', description: 'Conversations of one user' },
  { name: 'Files', description: 'What users upload' },
  { name: 'Agents', description: 'What can be talked to' },
  { name: 'Runtime agents', description: 'Agents that are made while the service runs' },
  { name: 'Runs', description: 'Single executions of an agent' },
  { name: 'OpenAI', description: 'Agents as models, for clients of OpenAI' },
  { name: 'Service', description: 'Health, measurements and this description' }
] as const

export interface Description {
  /** `operationId`: unique, and the name of a method in generated clients. */
  readonly id: string
  readonly tag: typeof tags[number]['name']
  readonly summary: string
  readonly description?: string
  readonly answers: Readonly<Record<number, Answer>>
  readonly body?: RouteReference['body']
  /** What it may answer beside what every route of its kind may. */
  readonly errors?: readonly ErrorCode[]
}

export interface Described {
  readonly operationId: string
  readonly tags: string[]
  readonly summary: string
  readonly description?: string
  readonly security?: []
  readonly reference: RouteReference
}

type ErrorWire = 'own' | 'openai'

/** What callers of a route for known callers are told; it is spread into the route's schema. */
export function describe ({ errors = [], ...description }: Description, wire: ErrorWire = 'own'): Described {
  return described(description, ['invalid_request', 'unauthenticated', 'permission_denied', ...errors, 'rate_limited', 'unknown', 'storage_unavailable'], wire)
}

/** The same for a route that everybody may call. */
export function describeOpen (description: Omit<Description, 'errors'>): Described {
  return { ...described(description, [], 'own'), security: [] }
}

export function json (description: string, schema: z.ZodType, example: unknown): Answer {
  return { description, content: { 'application/json': { schema, example } } }
}

export function text (description: string, example: string, contentType = 'text/plain'): Answer {
  return { description, content: { [contentType]: { schema: z.string(), example } } }
}

export function nothing (description: string): Answer {
  return { description, content: {} }
}

function described ({ id, tag, summary, description, answers, body }: Description, errors: readonly ErrorCode[], wire: ErrorWire): Described {
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    reference: { answers: { ...errorAnswers(errors, wire), ...answers }, ...(body === undefined ? {} : { body }) }
  }
}

/** One answer for each status, which names the codes that have it. */
function errorAnswers (codes: readonly ErrorCode[], wire: ErrorWire): Record<number, Answer> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) byStatus.set(errorCodes[code].status, [...byStatus.get(errorCodes[code].status) ?? [], code])
  return Object.fromEntries(Array.from(byStatus, ([status, [first = 'unknown', ...others]]) => {
    const example = { code: first, message: 'What went wrong, in a sentence for users.', retryable: errorCodes[first].retryable, ref: '5f2c9a1e' }
    const named = [first, ...others].map((code) => `\`${code}\``).join(', ')
    return [status, wire === 'own' ? json(named, errorShape, example) : json(named, openaiErrorShape, { error: { message: example.message, type: 'invalid_request_error', param: null, code: first } })]
  }))
}
