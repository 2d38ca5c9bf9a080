import { z } from 'zod'
import { invalidRequest, type ErrorIssue } from '../../errors.ts'
import type { ToldConversation } from '../../messages/told-conversation.ts'
import type { ToolOutput, TurnRequest } from '../../messages/turn-request.ts'
import type { WireProfile } from '../../messages/wire.ts'
import { idSchema, type Path } from '../ai-sdk/decode-message.ts'
import { isOwnResult } from './message-ids.ts'
import { decodeResume, type ResumeEntry } from './resume.ts'
import type { ClientMessage, RunInput } from './run-input.ts'
import { toldConversation } from './told-conversation.ts'
import { decodeContent } from './user-content.ts'

/** What a client of AG-UI asks for, and how it is to be answered. */
export interface RunRequest {
  readonly turn: TurnRequest
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly profile: WireProfile
  /** The messages up to the turn, where the client has more than those: some of the answer, which comes again from its beginning. */
  readonly rewindTo: readonly unknown[] | undefined
  /** The whole conversation up to the turn, for an agent that keeps no threads. */
  readonly told: () => ToldConversation
}

const propsSchema = z.object({ metadata: z.record(z.string(), z.unknown()) })

/**
 * Reads the newest turn of a checked body: the last message of the user, or what the client answered to calls and
 * interrupts after it. Throws invalid_request naming each wrong field by its path.
 */
export function decodeRunInput ({ messages, forwardedProps, protocolVersion, resume }: RunInput): RunRequest {
  return {
    ...resume === undefined || resume === null || resume.length === 0 ? newestTurn(messages) : resumedTurn(messages, resume),
    metadata: propsSchema.safeParse(forwardedProps).data?.metadata,
    profile: /^[1-9]\d*\.\d+$/.test(protocolVersion ?? '') ? 'full' : 'portable'
  }
}

type Turn = Pick<RunRequest, 'turn' | 'rewindTo' | 'told'>

function newestTurn (messages: readonly ClientMessage[]): Turn {
  const end = endOfTurn(messages)
  return { turn: turnAt(messages, end), rewindTo: rewind(messages, end), told: () => toldConversation(messages.slice(0, end + 1)) }
}

/** A client answers all that interrupted it at once, and has everything up to there. */
function resumedTurn (messages: readonly ClientMessage[], resume: readonly ResumeEntry[]): Turn {
  const { verdicts, issues } = decodeResume(resume)
  if (issues.length > 0) throw refuse(issues)
  if (messages.at(-1)?.role !== 'user') return { turn: { kind: 'answers', outputs: resultsAfter(messages, lastQuestion(messages)), verdicts }, rewindTo: undefined, told: () => toldConversation(messages) }
  // A new message goes on without what waits: only that can be said of it beside one.
  const resolved = resume.flatMap(({ status }, index) => status === 'resolved' ? [{ path: `resume.${index}.status`, message: 'expected "cancelled" beside a new message' }] : [])
  if (resolved.length > 0) throw refuse(resolved)
  return newestTurn(messages)
}

/** The index of the last message that the client wrote. Results may stand in any order behind their calls. */
function endOfTurn (messages: readonly ClientMessage[]): number {
  let end = messages.findLastIndex((message) => message.role === 'user' || isClientResult(message))
  if (end === -1) throw refuse([{ path: 'messages', message: 'expected a user message, or the result of a tool call' }])
  while (messages[end]?.role === 'tool' && messages[end + 1]?.role === 'tool') end++
  return end
}

function turnAt (messages: readonly ClientMessage[], end: number): TurnRequest {
  const question = lastQuestion(messages)
  if (question === end) return userTurn(messages[end], ['messages', end])
  return { kind: 'answers', outputs: resultsAfter(messages, question), verdicts: [] }
}

function lastQuestion (messages: readonly ClientMessage[]): number {
  return messages.findLastIndex(({ role }) => role === 'user')
}

function resultsAfter (messages: readonly ClientMessage[], question: number): ToolOutput[] {
  return messages.flatMap((message, index) => index > question && isClientResult(message) ? [resultOf(message, ['messages', index])] : [])
}

function userTurn (message: ClientMessage | undefined, path: Path): TurnRequest {
  const decoded = decodeContent(message?.['content'], [...path, 'content'])
  if (!decoded.ok) throw refuse(decoded.issues)
  // An id that cannot be one here is the client's own affair.
  const id = idSchema.safeParse(message?.id).data
  return { kind: 'message', ...(id === undefined ? {} : { id }), parts: decoded.value }
}

function isClientResult ({ role, id, toolCallId }: ClientMessage): boolean {
  return role === 'tool' && !(typeof toolCallId === 'string' && isOwnResult(id, toolCallId))
}

const textPart = z.object({ type: z.literal('text', 'expected a text part'), text: z.string() })
const resultSchema = z.object({
  toolCallId: z.string().min(1),
  content: z.union([z.string(), z.array(textPart)], 'expected text or parts of text'),
  error: z.string().refine((text) => !text.includes('\0'), 'NUL characters cannot be stored: remove them').nullish()
})

function resultOf (message: ClientMessage, path: Path): ToolOutput {
  const parsed = resultSchema.safeParse(message)
  if (!parsed.success) throw refuse(parsed.error.issues.map((issue) => ({ path: [...path, ...issue.path.map(String)].join('.'), message: issue.message })))
  const { toolCallId: callId, content, error } = parsed.data
  if (error !== undefined && error !== null && error !== '') return { callId, errorText: error }
  return { callId, output: typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n') }
}

/**
 * Clients take a snapshot for all there is of reasoning only where it has some: one that has none of its own names the
 * first that is to come again, emptied.
 */
function rewind (messages: readonly ClientMessage[], end: number): readonly unknown[] | undefined {
  const [kept, later] = [messages.slice(0, end + 1), messages.slice(end + 1)]
  if (!later.some(({ role }) => ofAnswers.has(role))) return undefined
  const thought = kept.some(isReasoning) ? undefined : later.find(isReasoning)
  return [...kept, ...(thought === undefined ? [] : [{ ...thought, content: '' }]), ...later.filter(({ role }) => !ofAnswers.has(role))]
}

const ofAnswers: ReadonlySet<string> = new Set(['assistant', 'tool', 'reasoning'])

function isReasoning ({ role }: ClientMessage): boolean {
  return role === 'reasoning'
}

function refuse (issues: readonly ErrorIssue[]) {
  return invalidRequest(`${issues[0]?.path ?? 'messages'}: ${issues[0]?.message ?? 'is not valid'}`, issues)
}
