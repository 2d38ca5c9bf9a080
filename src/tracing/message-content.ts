import type { Attributes } from '@opentelemetry/api'
import type { ModelMessage, ModelRequest } from '../models/model.ts'
import type { ModelCallEnd } from '../runtime/run-observer.ts'

/** What is said in model calls and to tools. Only for traces whose operator has asked for it. */
export interface MessageContent {
  readonly request: (request: ModelRequest) => Attributes
  readonly answer: (end: ModelCallEnd & { ok: true }) => Attributes
  readonly toolInput: (input: unknown) => Attributes
  readonly toolOutput: (output: unknown) => Attributes
}

export const messageContent: MessageContent = {
  request: ({ instructions, messages }) => ({
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: instructions }]),
    'gen_ai.input.messages': JSON.stringify(messages.map((message) => ({ role: message.role, parts: partsOf(message) })))
  }),
  answer: ({ text, calls, finishReason }) => ({
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [...textPart(text), ...calls.map(callPart)], finish_reason: finishReason }])
  }),
  toolInput: (input) => ({ 'gen_ai.tool.call.arguments': JSON.stringify(input) ?? '' }),
  toolOutput: (output) => ({ 'gen_ai.tool.call.result': JSON.stringify(output) ?? '' })
}

export const noContent: MessageContent = {
  request: () => ({}),
  answer: () => ({}),
  toolInput: () => ({}),
  toolOutput: () => ({})
}

function partsOf (message: ModelMessage): object[] {
  switch (message.role) {
    case 'user': return textPart(message.content)
    case 'assistant': return [...textPart(message.text), ...message.toolCalls.map(callPart)]
    case 'tool': return [{ type: 'tool_call_response', id: message.callId, response: message.content }]
    default: return message satisfies never
  }
}

function textPart (content: string): object[] {
  return content === '' ? [] : [{ type: 'text', content }]
}

function callPart ({ callId, toolName, arguments: text }: { readonly callId: string, readonly toolName: string, readonly arguments: string }): object {
  return { type: 'tool_call', id: callId, name: toolName, arguments: text }
}
