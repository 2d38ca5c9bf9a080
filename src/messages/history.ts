import { z } from 'zod'
import { limitText, serialiseOutput } from '../tools/serialise.ts'
import { isShownResult } from './attribution.ts'
import { denialText } from './denial.ts'
import { isToolPart, toolNameOf, type MessagePart, type ToolPart } from './parts.ts'
import { attachedId, type Attachment } from './attachment.ts'
import type { KeptReasoning, ModelMessage, ModelToolCall } from '../models/model.ts'
import type { Message } from '../threads/message.ts'

export type HistoryMessage = Pick<Message, 'role' | 'parts' | 'status'>

export interface HistoryOptions {
  /** Characters kept of each tool result of earlier turns; 0 keeps all. */
  readonly toolOutputLimit: number
  /** The name a model knows a tool by, where that differs. */
  readonly toolName?: (toolName: string) => string
  /** What the model is given of files, by file id. */
  readonly attachments?: ReadonlyMap<string, Told>
}

type Told = Pick<Attachment, 'text' | 'image'>

const interrupted = 'This call was interrupted: it has no result.'

/**
 * Stored messages as a model is given them. Every call is followed by its result, also where none was stored; reasoning
 * that its model does not want back, data, calls that the provider ran by itself, artifacts of tools, and what members did
 * on their own are left out; nothing empty is said.
 */
export function toModelMessages (messages: readonly HistoryMessage[], options: HistoryOptions): ModelMessage[] {
  const { toolOutputLimit, toolName = (name) => name, attachments = new Map<string, Told>() } = options
  const currentTurn = messages.findLastIndex((message) => message.role === 'user')
  const uniqueCallId = createUniqueIds()

  return messages.flatMap((message, index) => {
    if (message.role === 'user') return userMessage(message.parts, attachments, index === currentTurn)
    const limit = index > currentTurn ? 0 : toolOutputLimit
    return stepsOf(message.parts).flatMap((step) => stepMessages(step, limit))
  })

  function stepMessages (step: readonly MessagePart[], limit: number): ModelMessage[] {
    const text = joinText(step)
    const calls = step.filter(isToolPart).filter((part) => !isMemberCall(part) && !isShownResult(part) && part.providerExecuted !== true).map((part) => ({ part, callId: uniqueCallId(part.toolCallId), name: toolName(toolNameOf(part)) }))
    if (text === '' && calls.length === 0) return []
    const toolCalls = calls.map(({ part, callId, name }): ModelToolCall => ({ callId, toolName: name, arguments: argumentsOf(part) }))
    const results = calls.map(({ part, callId, name }): ModelMessage => ({ role: 'tool', callId, toolName: name, content: limitText(resultOf(part), limit) }))
    const reasoning = reasoningOf(step)
    return [{ role: 'assistant', text, ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls }, ...results]
  }
}

/**
 * The newest `maxHistory` messages, and always the last user message. A call and its result are stored in one message, so
 * no cut comes between them.
 */
export function limitHistory<T extends Pick<Message, 'role'>> (messages: readonly T[], maxHistory: number | undefined): readonly T[] {
  if (maxHistory === undefined || messages.length <= maxHistory) return messages
  const start = messages.length - maxHistory
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  return messages.slice(lastUser === -1 ? start : Math.min(start, lastUser))
}

function userMessage (parts: readonly MessagePart[], attachments: ReadonlyMap<string, Told>, isNewest: boolean): ModelMessage[] {
  const content = joinText(parts, attachments)
  const images = isNewest ? parts.flatMap((part) => part.type === 'file' ? attachments.get(attachedId(part) ?? '')?.image ?? [] : []) : []
  return content === '' && images.length === 0 ? [] : [{ role: 'user', content, ...(images.length === 0 ? {} : { images }) }]
}

function joinText (parts: readonly MessagePart[], attachments?: ReadonlyMap<string, Told>): string {
  return parts.flatMap((part) => {
    if (part.type === 'text') return part.text === '' ? [] : [part.text]
    if (part.type !== 'file') return []
    return [attachments?.get(attachedId(part) ?? '')?.text ?? `[File: ${part.filename ?? 'unnamed'} (${part.mediaType})]`]
  }).join('\n\n')
}

const reasoningKeySchema = z.object({ model: z.string(), itemId: z.string(), encryptedContent: z.string() })

/** Where a chat is not stored, these came from its client: what is no key is left out. */
function reasoningOf (parts: readonly MessagePart[]): KeptReasoning[] {
  return parts.flatMap((part) => {
    const key = part.type === 'reasoning' ? reasoningKeySchema.safeParse(part.providerMetadata?.['openai']) : undefined
    return part.type === 'reasoning' && key?.success === true ? [{ ...key.data, text: part.text }] : []
  })
}

function stepsOf (parts: readonly MessagePart[]): readonly (readonly MessagePart[])[] {
  const steps: MessagePart[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps
}

/** A member's own calls are for people to see; the model knows the delegation and its report. */
function isMemberCall (part: ToolPart): boolean {
  return part.callProviderMetadata?.['parley']?.['parentToolCallId'] !== undefined
}

function argumentsOf ({ input }: ToolPart): string {
  if (input === undefined || input === null || input === '') return '{}'
  const isObject = typeof input === 'object' && !Array.isArray(input)
  return JSON.stringify(isObject ? input : { unreadable: input })
}

function resultOf (part: ToolPart): string {
  switch (part.state) {
    case 'output-available': return part.preliminary === true ? interrupted : serialiseOutput(part.output)
    case 'output-error': return `Error: ${part.errorText ?? 'the tool failed.'}`
    case 'output-denied': return denialText(part.approval?.reason)
    case 'input-streaming': case 'input-available': case 'approval-requested': case 'approval-responded': return interrupted
    default: return part.state satisfies never
  }
}

/** Some providers use a call id again in a later round; a result must belong to one call only. */
function createUniqueIds (): (id: string) => string {
  const used = new Set<string>()
  return (id) => {
    let unique = id
    for (let n = 2; used.has(unique); n++) unique = `${id}_${n}`
    used.add(unique)
    return unique
  }
}
