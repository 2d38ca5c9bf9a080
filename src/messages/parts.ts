import { z } from 'zod'

/**
 * Message parts as they are stored and as history shows them: the UIMessage vocabulary of chat clients, which is what
 * their reducer makes of the stream we sent. Optional keys are absent, never null.
 */
const providerMetadata = z.record(z.string(), z.record(z.string(), z.unknown()))
const textState = z.enum(['streaming', 'done']).optional()

export const toolStates = ['input-streaming', 'input-available', 'approval-requested', 'approval-responded', 'output-available', 'output-error', 'output-denied'] as const

const toolFields = {
  toolCallId: z.string(),
  state: z.enum(toolStates),
  title: z.string().optional(),
  input: z.unknown(),
  rawInput: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  preliminary: z.boolean().optional(),
  providerExecuted: z.boolean().optional(),
  callProviderMetadata: providerMetadata.optional(),
  approval: z.object({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() }).optional()
}

export const messagePartSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string(), state: textState, providerMetadata: providerMetadata.optional() }),
  z.object({ type: z.literal('reasoning'), id: z.string().optional(), text: z.string(), state: textState, providerMetadata: providerMetadata.optional() }),
  z.object({ type: z.literal('step-start') }),
  z.object({ type: z.literal('file'), url: z.string(), mediaType: z.string(), filename: z.string().optional(), providerMetadata: providerMetadata.optional() }),
  z.object({ type: z.literal('source-url'), sourceId: z.string(), url: z.string(), title: z.string().optional(), providerMetadata: providerMetadata.optional() }),
  z.object({ type: z.literal('source-document'), sourceId: z.string(), mediaType: z.string(), title: z.string(), filename: z.string().optional(), providerMetadata: providerMetadata.optional() }),
  z.object({ type: z.literal('dynamic-tool'), toolName: z.string(), ...toolFields }),
  z.object({ type: z.templateLiteral(['tool-', z.string()]), ...toolFields }),
  z.object({ type: z.templateLiteral(['data-', z.string()]), id: z.string().optional(), data: z.unknown() })
])

export type MessagePart = z.output<typeof messagePartSchema>
export type ToolPart = Extract<MessagePart, { toolCallId: string }>
export type TextPart = Extract<MessagePart, { type: 'text' | 'reasoning' }>

export function isToolPart (part: MessagePart): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-')
}

export function toolNameOf (part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length)
}

/** The text a person reads in a message, blocks joined by a blank line. */
export function textOf (parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => part.type === 'text' && part.text !== '' ? [part.text] : []).join('\n\n')
}
