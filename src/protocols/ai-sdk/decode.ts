import { z } from 'zod'
import { invalidRequest, type AppError, type ErrorIssue } from '../../errors.ts'
import { decodeText, decodeAnswers, decodeUserParts, idSchema, type Decoded, type Path } from './decode-message.ts'
import type { MessagePart } from '../../messages/parts.ts'
import type { TurnRequest } from '../../messages/turn-request.ts'

/** What a chat client posted: where, to whom, and what it asks. */
export interface ChatRequest {
  /** The body's `id`, which chat clients fill with their chat's id. */
  readonly threadId?: string
  readonly agentId?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly turn: TurnRequest
  /** The whole conversation as the client tells it, unread: for a chat that is not stored. */
  readonly messages: readonly unknown[]
}

/**
 * The body of a chat request: `{id, messages, trigger, messageId?}` as useChat sends it, or the newest message alone as
 * `{message}`, or `{text}`. Unknown fields are ignored, and of `messages` only the newest is read: history is the
 * store's.
 */
export const chatBodySchema = z.object({
  id: z.string().optional(),
  agentId: z.string().optional(),
  messages: z.array(z.unknown()).optional(),
  message: z.unknown().optional(),
  text: z.string().optional(),
  trigger: z.enum(['submit-message', 'regenerate-message']).nullish(),
  messageId: idSchema.nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish()
})

type ChatBody = z.output<typeof chatBodySchema>

/** Reads a request body. Throws invalid_request whose `details.issues` name each wrong field by its path. */
export function decodeChatRequest (body: unknown): ChatRequest {
  const parsed = check(chatBodySchema, body, [])
  const { id, agentId, metadata, messages, text } = parsed
  return {
    ...(id === undefined ? {} : { threadId: id }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(metadata === undefined || metadata === null ? {} : { metadata }),
    turn: turnOf(parsed),
    messages: messages ?? [parsed.message ?? { role: 'user', content: text }]
  }
}

const newestSchema = z.looseObject({ id: idSchema.optional(), role: z.string().optional(), parts: z.unknown().optional() })

function turnOf (body: ChatBody): TurnRequest {
  const messageId = body.messageId ?? undefined
  const newest = newestMessage(body)
  if (body.trigger === 'regenerate-message') {
    const fallbackId = newest === undefined ? undefined : check(newestSchema, newest.value, newest.path).id
    return { kind: 'regenerate', ...(messageId === undefined ? {} : { messageId }), ...(fallbackId === undefined ? {} : { fallbackId }) }
  }
  if (newest === undefined) return textTurn(body)
  if (body.text !== undefined) throw refuse(['text'], `expected either "text" or "${newest.path[0]}": what both say would be lost in part`)
  const { value, path } = newest
  const { id, role = 'user', parts } = check(newestSchema, value, path)
  if (role === 'user') return userTurn({ id, replaces: messageId, parts: accept(decodeUserParts(parts, [...path, 'parts'])) })
  if (role !== 'assistant') throw refuse([...path, 'role'], `a "${role.slice(0, 64)}" message cannot be sent: only "user", or "assistant" with results of its tool calls`)
  const answered = id ?? messageId
  if (answered === undefined) throw refuse([...path, 'id'], 'an assistant message needs its id')
  return { kind: 'answers', messageId: answered, ...accept(decodeAnswers(parts, [...path, 'parts'])) }
}

function userTurn ({ id, replaces, parts }: { id?: string | undefined, replaces: string | undefined, parts: readonly MessagePart[] }): TurnRequest {
  return { kind: 'message', ...(id === undefined ? {} : { id }), parts, ...(replaces === undefined ? {} : { replaces }) }
}

function textTurn ({ text, messages, messageId }: ChatBody): TurnRequest {
  if (text === undefined) throw refuse(['messages'], messages === undefined ? 'expected "messages", "message" or "text"' : 'there is no message')
  return userTurn({ replaces: messageId ?? undefined, parts: accept(decodeText(text, ['text'])) })
}

function newestMessage ({ message, messages = [], messageId }: ChatBody): { value: unknown, path: Path } | undefined {
  if (message !== undefined && message !== null) return { value: message, path: ['message'] }
  if (messages.length === 0) return undefined
  // A client may answer a tool call of an assistant message that is not its last; it names that message then.
  const answered = messageId === undefined || messageId === null ? -1 : messages.findLastIndex((entry) => isAssistant(entry, messageId))
  const index = answered === -1 ? messages.length - 1 : answered
  return { value: messages[index], path: ['messages', index] }
}

function isAssistant (entry: unknown, messageId: string): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  const { id, role } = entry as { id?: unknown, role?: unknown }
  return role === 'assistant' && id === messageId
}

function check<T extends z.ZodType> (schema: T, value: unknown, path: Path): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw refuseAll(result.error.issues.map((issue) => ({ path: [...path, ...issue.path.map(String)].join('.') || 'body', message: issue.message })))
}

function accept<T> (decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value
  throw refuseAll(decoded.issues)
}

function refuse (path: Path, message: string): AppError {
  return refuseAll([{ path: path.join('.'), message }])
}

/** Chat clients show the whole body, so the sentence names the first fault only; `details` has them all. */
function refuseAll (issues: readonly ErrorIssue[]): AppError {
  const [first] = issues
  if (first === undefined) return invalidRequest('The request is not valid.')
  return invalidRequest(`${first.path}: ${first.message}`, issues)
}
