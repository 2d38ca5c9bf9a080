import { z } from 'zod'
import { invalidRequest, type ErrorIssue } from '../../errors.ts'
import { toModelMessages, type HistoryMessage } from '../../messages/history.ts'
import { messagePartSchema, type MessagePart } from '../../messages/parts.ts'
import type { ToldConversation } from '../../messages/told-conversation.ts'
import type { TurnRequest } from '../../messages/turn-request.ts'
import type { ModelMessage } from '../../models/model.ts'
import { decodeText, decodeUserParts, type Decoded, type Path } from './decode-message.ts'

// A conversation is told anew with every request; more of it than this is a mistake.
export const maxMessages = 1_000

const messageSchema = z.looseObject({ id: z.unknown().optional(), role: z.string(), content: z.string().optional(), parts: z.array(z.unknown()).optional() })

/**
 * A whole conversation told by its client, where nothing is stored: user and assistant messages with `parts`, or with
 * `content` as text. Throws invalid_request naming each wrong field by its path.
 */
export function decodeConversation (messages: readonly unknown[] | undefined, path: Path): ModelMessage[] {
  return toModelMessages(decodeMessages(messages, path, 'user'), { toolOutputLimit: 0 })
}

/**
 * The same up to what a turn asks, for an agent that keeps no threads: a question, the question of an answer that is to be
 * made anew, or calls that the client has answered.
 */
export function decodeTold (messages: readonly unknown[], turn: TurnRequest): ToldConversation {
  const told = upTo(turn, messages)
  const decoded = decodeMessages(told, ['messages'], turn.kind === 'answers' ? 'assistant' : 'user')
  const last = decoded.at(-1)
  if (turn.kind === 'answers' && decoded.every(({ role }) => role !== 'user')) throw refuse([{ path: 'messages', message: 'expected the whole conversation: nothing of it is kept here' }])
  const continues = turn.kind === 'answers' && turn.messageId !== undefined ? { messageId: turn.messageId, parts: last?.parts ?? [] } : undefined
  return { messages: toModelMessages(decoded, { toolOutputLimit: 0 }), continues }
}

function upTo (turn: TurnRequest, messages: readonly unknown[]): readonly unknown[] {
  const entries = messages.map((message) => messageSchema.safeParse(message).data)
  switch (turn.kind) {
    case 'message': return messages
    case 'answers': {
      const answered = entries.findLastIndex((entry) => entry?.role === 'assistant' && entry.id === turn.messageId)
      return answered === -1 ? messages : messages.slice(0, answered + 1)
    }
    case 'regenerate': {
      const named = turn.messageId === undefined ? -1 : entries.findLastIndex((entry) => entry?.id === turn.messageId)
      const kept = named === -1 ? entries : entries.slice(0, named + 1)
      return messages.slice(0, kept.findLastIndex((entry) => entry?.role === 'user') + 1)
    }
    default: return turn satisfies never
  }
}

function decodeMessages (messages: readonly unknown[] | undefined, path: Path, end: HistoryMessage['role']): readonly HistoryMessage[] {
  if (messages === undefined || messages.length === 0) throw refuse([{ path: path.join('.'), message: 'expected at least one message' }])
  if (messages.length > maxMessages) throw refuse([{ path: path.join('.'), message: `expected at most ${maxMessages} messages` }])
  const issues: ErrorIssue[] = []
  const decoded = messages.flatMap((message, index) => {
    const result = decodeMessage(message, [...path, index])
    if (result.ok) return [result.value]
    issues.push(...result.issues)
    return []
  })
  if (decoded.at(-1)?.role !== end && issues.length === 0) issues.push({ path: path.join('.'), message: end === 'user' ? 'expected a user message at the end' : 'expected the answered message at the end' })
  if (end === 'user') issues.push(...fileIssues(decoded.at(-1)?.parts, [...path, decoded.length - 1, 'parts']))
  if (issues.length > 0) throw refuse(issues)
  return decoded
}

/** Files belong to threads: without one there is nothing that the newest message could refer to, and addresses are not fetched. */
export function fileIssues (parts: readonly MessagePart[] = [], path: Path): ErrorIssue[] {
  return parts.flatMap((part, index) => part.type === 'file'
    ? [{ path: [...path, index, 'url'].join('.'), message: 'a chat that is not stored takes no files: make a thread and upload the file to it' }]
    : [])
}

function decodeMessage (message: unknown, path: Path): Decoded<HistoryMessage> {
  const parsed = messageSchema.safeParse(message)
  if (!parsed.success) return { ok: false, issues: parsed.error.issues.map((issue) => ({ path: [...path, ...issue.path.map(String)].join('.'), message: issue.message })) }
  const { role, content, parts } = parsed.data
  if (role !== 'user' && role !== 'assistant') return { ok: false, issues: [{ path: [...path, 'role'].join('.'), message: 'expected "user" or "assistant"' }] }
  if (content === undefined && parts === undefined) return { ok: false, issues: [{ path: path.join('.'), message: 'expected "parts" or "content"' }] }
  const read = content !== undefined ? decodeText(content, [...path, 'content']) : role === 'user' ? decodeUserParts(parts, [...path, 'parts']) : assistantParts(parts)
  return read.ok ? { ok: true, value: { role, parts: read.value, status: 'completed' } } : read
}

/** What an assistant said is context only: parts of kinds we do not know are left out. */
function assistantParts (parts: readonly unknown[] = []): Decoded<readonly MessagePart[]> {
  const known = parts.flatMap((part) => {
    const result = messagePartSchema.safeParse(part)
    return result.success ? [result.data] : []
  })
  return { ok: true, value: known }
}

function refuse (issues: readonly ErrorIssue[]) {
  return invalidRequest(`${issues[0]?.path ?? 'messages'}: ${issues[0]?.message ?? 'is not valid'}`, issues)
}
