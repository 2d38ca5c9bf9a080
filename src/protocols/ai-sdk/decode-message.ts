import { z } from 'zod'
import type { ErrorIssue } from '../../errors.ts'
import type { MessagePart } from '../../messages/parts.ts'
import type { ClientVerdict, ToolOutput } from '../../messages/turn-request.ts'

/** Characters of text in one message. */
export const maxTextLength = 500_000
/** Characters of what somebody says to a verdict. */
export const maxReasonLength = 2_000
/** Parts of one message, of whatever kind. */
export const maxParts = 1_000

export type Path = readonly (string | number)[]
export type Decoded<T> = { readonly ok: true, readonly value: T } | { readonly ok: false, readonly issues: readonly ErrorIssue[] }

export const idSchema = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 letters, digits, "_" or "-"')

const plain = z.string().refine((text) => !text.includes('\0'), 'NUL characters cannot be stored: remove them')
const textSchema = plain.refine((text) => text.length <= maxTextLength, `a message holds at most ${maxTextLength} characters of text`)
const userPartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: textSchema }),
  z.object({
    type: z.literal('file'),
    mediaType: plain.min(1),
    url: plain.regex(/^(?:https?:|data:|\/)/i, 'expected an http, https or data URL, or a path of this service'),
    filename: plain.optional(),
    // Of what clients keep with a file only the id of an upload is ours.
    providerMetadata: z.object({ parley: z.object({ fileId: plain.max(200) }) }).optional().catch(undefined)
  })
])

/** The parts of a user message: text and files, in the client's order. */
export function decodeUserParts (parts: unknown, path: Path): Decoded<readonly MessagePart[]> {
  if (!Array.isArray(parts)) return refused(path, 'expected the parts of a message')
  if (parts.length > maxParts) return refused(path, `a message holds at most ${maxParts} parts`)
  const issues: ErrorIssue[] = []
  const decoded: MessagePart[] = []
  for (const [index, part] of parts.entries()) {
    const result = userPartSchema.safeParse(part)
    if (result.success) decoded.push(withoutAbsent(result.data))
    else issues.push(...result.error.issues.map((issue) => ({ path: [...path, index, ...issue.path.map(String)].join('.'), message: partMessage(part, issue) })))
  }
  if (issues.length > 0) return { ok: false, issues }
  if (isEmpty(decoded)) return refused(path, 'the message is empty: it needs text or a file')
  const length = decoded.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  return length > maxTextLength ? refused(path, `a message holds at most ${maxTextLength} characters of text`) : { ok: true, value: decoded }
}

/** The text of a request that has nothing else. */
export function decodeText (text: string, path: Path): Decoded<readonly MessagePart[]> {
  const result = textSchema.safeParse(text)
  if (!result.success) return { ok: false, issues: result.error.issues.map(({ message }) => ({ path: path.join('.'), message })) }
  const parts = [{ type: 'text' as const, text: result.data }]
  return isEmpty(parts) ? refused(path, 'the message is empty: it needs text or a file') : { ok: true, value: parts }
}

const answeredSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('output-available'), toolCallId: z.string().min(1), output: z.unknown().optional(), preliminary: z.boolean().nullish() }),
  z.object({ state: z.literal('output-error'), toolCallId: z.string().min(1), errorText: plain }),
  z.object({
    state: z.literal('approval-responded'),
    toolCallId: z.string().min(1),
    input: z.unknown().optional(),
    approval: z.object({ id: z.string().min(1).max(200), approved: z.boolean(), reason: plain.max(maxReasonLength).nullish() })
  })
])

export interface DecodedAnswers { readonly outputs: readonly ToolOutput[], readonly verdicts: readonly ClientVerdict[] }

/** The answered tool calls of an assistant message; everything else in it is the service's own and known. */
export function decodeAnswers (parts: unknown, path: Path): Decoded<DecodedAnswers> {
  if (!Array.isArray(parts)) return refused(path, 'expected the parts of a message')
  const issues: ErrorIssue[] = []
  const outputs: ToolOutput[] = []
  const verdicts: ClientVerdict[] = []
  for (const [index, part] of parts.entries()) {
    if (!isAnswered(part)) continue
    const result = answeredSchema.safeParse(part)
    if (!result.success) issues.push(...result.error.issues.map((issue) => ({ path: [...path, index, ...issue.path.map(String)].join('.'), message: issue.message })))
    else take(result.data)
  }
  if (issues.length > 0) return { ok: false, issues }
  return outputs.length + verdicts.length === 0 ? refused(path, 'an assistant message can only be sent with results of its tool calls or verdicts on them') : { ok: true, value: { outputs, verdicts } }

  function take (part: z.output<typeof answeredSchema>): void {
    switch (part.state) {
      case 'output-available': if (part.preliminary !== true) outputs.push({ callId: part.toolCallId, output: part.output ?? null }); break
      case 'output-error': outputs.push({ callId: part.toolCallId, errorText: part.errorText }); break
      case 'approval-responded': verdicts.push(verdictOf(part)); break
      default: part satisfies never
    }
  }
}

function verdictOf ({ approval: { id, approved, reason }, input }: z.output<typeof answeredSchema> & { state: 'approval-responded' }): ClientVerdict {
  return { approvalId: id, approved, ...(reason === undefined || reason === null ? {} : { reason }), ...(input === undefined ? {} : { input }) }
}

function isAnswered (part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { type, state } = part as { type?: unknown, state?: unknown }
  if (typeof type !== 'string' || (type !== 'dynamic-tool' && !type.startsWith('tool-'))) return false
  return state === 'output-available' || state === 'output-error' || state === 'approval-responded'
}

function partMessage (part: unknown, issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message
  const type = typeof part === 'object' && part !== null ? (part as { type?: unknown }).type : undefined
  return typeof type === 'string' ? `"${type.slice(0, 64)}" parts cannot be sent: only text and file` : 'expected a text or file part'
}

function withoutAbsent (part: z.output<typeof userPartSchema>): MessagePart {
  if (part.type === 'text') return part
  const { filename, providerMetadata, ...file } = part
  return { ...file, ...(filename === undefined ? {} : { filename }), ...(providerMetadata === undefined ? {} : { providerMetadata }) }
}

function isEmpty (parts: readonly MessagePart[]): boolean {
  return parts.every((part) => part.type === 'text' && part.text.trim() === '')
}

function refused (path: Path, message: string): { ok: false, issues: readonly ErrorIssue[] } {
  return { ok: false, issues: [{ path: path.join('.'), message }] }
}
