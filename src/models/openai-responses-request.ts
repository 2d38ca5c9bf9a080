import type { OpenAI } from 'openai'
import type { JsonSchema, KeptReasoning, ModelMessage, ModelRequest, ModelSettings, ToolChoice } from './model.ts'
import { imageUrl, isStrict, plainName, wellFormed } from './openai-chat-request.ts'
import type { ResponsesDialect } from './openai-responses-dialect.ts'

type Params = OpenAI.Responses.ResponseCreateParamsStreaming
type Item = OpenAI.Responses.ResponseInputItem

/** A request in the words of the Responses API. `id` is our name of the model, whose own reasoning it is given back. */
export function responsesRequest ({ id, modelName }: { readonly id: string, readonly modelName: string }, request: ModelRequest, dialect: ResponsesDialect): Params {
  const { tools, responseSchema, settings } = request
  const instructions = instructionsOf(request, dialect)
  return {
    model: modelName,
    input: request.messages.flatMap((message) => items(message, id)),
    stream: true,
    store: false,
    ...(instructions === '' ? {} : { instructions }),
    ...(dialect.encryptedReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    // `strict: null` would let the server rewrite the schema to fit its strict mode.
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name, description, parameters }) => ({ type: 'function' as const, name, description, parameters, strict: false })) }),
    ...(tools.length === 0 || request.toolChoice === 'auto' ? {} : { tool_choice: toolChoice(request.toolChoice) }),
    ...(responseSchema === undefined || dialect.responseFormat === 'prompt' ? {} : { text: { format: format(responseSchema, dialect) } }),
    ...reasoning(settings, dialect),
    ...sampling(settings)
  }
}

function instructionsOf ({ instructions, responseSchema }: ModelRequest, { responseFormat }: ResponsesDialect): string {
  if (responseSchema === undefined || responseFormat === 'json_schema') return instructions
  return `${instructions}\n\nAnswer with one JSON value and nothing else. It matches this JSON Schema: ${JSON.stringify(responseSchema)}`.trimStart()
}

function items (message: ModelMessage, modelId: string): Item[] {
  switch (message.role) {
    case 'user': return [{ role: 'user', content: userContent(message) }]
    case 'tool': return [{ type: 'function_call_output', call_id: message.callId, output: wellFormed(message.content) }]
    case 'assistant': return [...reasoningItems(message, modelId), ...said(message.text), ...calls(message)]
    default: return message satisfies never
  }
}

function userContent ({ content, images = [] }: ModelMessage & { role: 'user' }): string | OpenAI.Responses.ResponseInputContent[] {
  const text = wellFormed(content)
  if (images.length === 0) return text
  const pixels = images.map((image) => ({ type: 'input_image' as const, detail: 'auto' as const, image_url: imageUrl(image) }))
  return text === '' ? pixels : [{ type: 'input_text', text }, ...pixels]
}

function reasoningItems ({ reasoning = [] }: ModelMessage & { role: 'assistant' }, modelId: string): Item[] {
  return reasoning.filter(({ model }) => model === modelId).map(({ itemId, encryptedContent, text }: KeptReasoning): Item => ({
    type: 'reasoning',
    id: itemId,
    summary: text === '' ? [] : [{ type: 'summary_text', text: wellFormed(text) }],
    encrypted_content: encryptedContent
  }))
}

function said (text: string): Item[] {
  return text === '' ? [] : [{ role: 'assistant', content: wellFormed(text) }]
}

function calls ({ toolCalls }: ModelMessage & { role: 'assistant' }): Item[] {
  return toolCalls.map((call): Item => ({ type: 'function_call', call_id: call.callId, name: plainName(call.toolName), arguments: call.arguments }))
}

function toolChoice (choice: ToolChoice): NonNullable<Params['tool_choice']> {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.tool }
}

function format (schema: JsonSchema, { responseFormat }: ResponsesDialect): OpenAI.Responses.ResponseFormatTextConfig {
  if (responseFormat === 'json_object') return { type: 'json_object' }
  return { type: 'json_schema', name: 'answer', schema: { ...schema }, strict: isStrict(schema) }
}

function reasoning ({ reasoningEffort }: ModelSettings, { reasoningSummary }: ResponsesDialect): Partial<Params> {
  if (reasoningEffort === undefined && !reasoningSummary) return {}
  // Efforts are open, since servers add their own.
  const effort = reasoningEffort === undefined ? {} : { effort: reasoningEffort as OpenAI.ReasoningEffort }
  return { reasoning: { ...effort, ...(reasoningSummary ? { summary: 'auto' as const } : {}) } }
}

/** The Responses API has no seed, no stop sequences and no penalties: those settings say nothing here. */
function sampling ({ temperature, topP, maxOutputTokens }: ModelSettings): Partial<Params> {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens })
  }
}
