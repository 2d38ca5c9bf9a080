import { z } from 'zod'
import { invalidRequest, type ErrorIssue } from '../../errors.ts'
import { toModelMessages, type HistoryMessage } from '../../messages/history.ts'
import type { MessagePart } from '../../messages/parts.ts'
import type { ToldConversation } from '../../messages/told-conversation.ts'
import { fileIssues, maxMessages } from '../ai-sdk/decode-conversation.ts'
import type { ClientMessage } from './run-input.ts'
import { decodeContent } from './user-content.ts'

const answerSchema = z.looseObject({
  content: z.string().nullish(),
  toolCalls: z.array(z.looseObject({ id: z.string().min(1), function: z.looseObject({ name: z.string().min(1), arguments: z.string() }) })).nullish()
})
const resultSchema = z.looseObject({ toolCallId: z.string(), content: z.unknown(), error: z.string().nullish() })

type Result = z.output<typeof resultSchema>

/**
 * What a client tells of a conversation that only it keeps: questions, answers and results of calls. Of reasoning and of
 * what systems say nothing is taken. Throws invalid_request naming each wrong field by its path.
 */
export function toldConversation (messages: readonly ClientMessage[]): ToldConversation {
  if (messages.length > maxMessages) throw refuse([{ path: 'messages', message: `expected at most ${maxMessages} messages` }])
  const results = new Map(messages.flatMap((message) => {
    const result = message.role === 'tool' ? resultSchema.safeParse(message).data : undefined
    return result === undefined ? [] : [[result.toolCallId, result] as const]
  }))
  const issues: ErrorIssue[] = []
  const told = messages.flatMap((message, index): HistoryMessage[] => {
    if (message.role === 'user') return [{ role: 'user', parts: question(message, index), status: 'completed' }]
    return message.role === 'assistant' ? [{ role: 'assistant', parts: answer(message, index), status: 'completed' }] : []
  })
  if (issues.length === 0 && told.every(({ role }) => role !== 'user')) issues.push({ path: 'messages', message: 'expected the whole conversation: nothing of it is kept here' })
  if (issues.length > 0) throw refuse(issues)
  return { messages: toModelMessages(told, { toolOutputLimit: 0 }) }

  function question ({ content }: ClientMessage, index: number): readonly MessagePart[] {
    const path = ['messages', index, 'content']
    const decoded = decodeContent(content, path)
    issues.push(...decoded.ok ? index === messages.length - 1 ? fileIssues(decoded.value, path) : [] : decoded.issues)
    return decoded.ok ? decoded.value : []
  }

  function answer (message: ClientMessage, index: number): readonly MessagePart[] {
    const parsed = answerSchema.safeParse(message)
    if (!parsed.success) {
      issues.push(...parsed.error.issues.map((issue) => ({ path: ['messages', index, ...issue.path.map(String)].join('.'), message: issue.message })))
      return []
    }
    const { content, toolCalls } = parsed.data
    const calls = (toolCalls ?? []).map(({ id, function: { name, arguments: text } }) => callPart(id, name, text, results.get(id)))
    return [...content === undefined || content === null || content === '' ? [] : [{ type: 'text', text: content } as const], ...calls]
  }
}

function callPart (toolCallId: string, name: string, text: string, result: Result | undefined): MessagePart {
  const call = { type: `tool-${name}`, toolCallId, input: inputOf(text) } as const
  if (result === undefined) return { ...call, state: 'input-available' }
  const { content, error } = result
  return error === undefined || error === null || error === '' ? { ...call, state: 'output-available', output: content } : { ...call, state: 'output-error', errorText: error }
}

/** What is no JSON stays the text it is, which the model is shown as unreadable. */
function inputOf (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function refuse (issues: readonly ErrorIssue[]) {
  return invalidRequest(`${issues[0]?.path ?? 'messages'}: ${issues[0]?.message ?? 'is not valid'}`, issues)
}
