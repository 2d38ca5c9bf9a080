import { z } from 'zod'
import { invalidRequest, type ErrorIssue } from '../../errors.ts'
import { toModelMessages, type HistoryMessage } from '../../messages/history.ts'
import { messagePartSchema, type MessagePart } from '../../messages/parts.ts'
import type { ModelMessage } from '../../models/model.ts'
import { decodeText, decodeUserParts, type Decoded, type Path } from './decode-message.ts'

// A conversation is told anew with every request; more of it than this is a mistake.
const maxMessages = 1_000

const messageSchema = z.looseObject({ role: z.string(), content: z.string().optional(), parts: z.array(z.unknown()).optional() })

/**
 * A whole conversation told by its client, where nothing is stored: user and assistant messages with `parts`, or with
 * `content` as text. Throws invalid_request naming each wrong field by its path.
 */
export function decodeConversation (messages: readonly unknown[] | undefined, path: Path): ModelMessage[] {
  if (messages === undefined || messages.length === 0) throw refuse([{ path: path.join('.'), message: 'expected at least one message' }])
  if (messages.length > maxMessages) throw refuse([{ path: path.join('.'), message: `expected at most ${maxMessages} messages` }])
  const issues: ErrorIssue[] = []
  const decoded = messages.flatMap((message, index) => {
    const result = decodeMessage(message, [...path, index])
    if (result.ok) return [result.value]
    issues.push(...result.issues)
    return []
  })
  if (decoded.at(-1)?.role !== 'user' && issues.length === 0) issues.push({ path: path.join('.'), message: 'expected a user message at the end' })
  issues.push(...fileIssues(decoded, path))
  if (issues.length > 0) throw refuse(issues)
  return toModelMessages(decoded, { toolOutputLimit: 0 })
}

/** Files belong to threads: without one there is nothing that the newest message could refer to, and addresses are not fetched. */
function fileIssues (messages: readonly HistoryMessage[], path: Path): ErrorIssue[] {
  return (messages.at(-1)?.parts ?? []).flatMap((part, index) => part.type === 'file'
    ? [{ path: [...path, messages.length - 1, 'parts', index, 'url'].join('.'), message: 'a chat that is not stored takes no files: make a thread and upload the file to it' }]
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
