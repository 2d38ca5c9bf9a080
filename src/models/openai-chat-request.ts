import type { OpenAI } from 'openai'
import type { JsonSchema, ModelImage, ModelMessage, ModelRequest, ModelSettings, ToolChoice } from './model.ts'
import type { Dialect } from './openai-dialect.ts'

type Params = OpenAI.ChatCompletionCreateParamsStreaming
type Message = OpenAI.ChatCompletionMessageParam

/** A request in the words of chat completions, as far as the server's dialect goes. */
export function chatRequest (modelName: string, request: ModelRequest, dialect: Dialect): Params {
  const { tools, responseSchema } = request
  return {
    model: modelName,
    messages: [...system(request, dialect), ...request.messages.flatMap(chatMessage)],
    stream: true,
    ...(dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name, description, parameters }) => ({ type: 'function' as const, function: { name, description, parameters } })) }),
    ...(tools.length === 0 || request.toolChoice === 'auto' ? {} : { tool_choice: toolChoice(request.toolChoice) }),
    ...(responseSchema === undefined ? {} : responseFormat(responseSchema, dialect)),
    ...settings(request.settings, dialect)
  }
}

function system ({ instructions, responseSchema }: ModelRequest, dialect: Dialect): Message[] {
  const shape = responseSchema === undefined || dialect.responseFormat === 'json_schema'
    ? ''
    : `Answer with one JSON value and nothing else. It matches this JSON Schema: ${JSON.stringify(responseSchema)}`
  const content = [instructions, shape].filter((text) => text !== '').join('\n\n')
  return content === '' ? [] : [{ role: 'system', content }]
}

function chatMessage (message: ModelMessage): Message[] {
  switch (message.role) {
    case 'user': return [{ role: 'user', content: userContent(message) }]
    case 'tool': return [{ role: 'tool', tool_call_id: message.callId, content: wellFormed(message.content) }]
    case 'assistant': return assistant(message)
    default: return message satisfies never
  }
}

/** Text alone stays text: some servers take nothing else. */
function userContent ({ content, images = [] }: ModelMessage & { role: 'user' }): string | OpenAI.ChatCompletionContentPart[] {
  const text = wellFormed(content)
  if (images.length === 0) return text
  const pixels = images.map((image) => ({ type: 'image_url' as const, image_url: { url: imageUrl(image) } }))
  return text === '' ? pixels : [{ type: 'text', text }, ...pixels]
}

function assistant ({ text, toolCalls }: ModelMessage & { role: 'assistant' }): Message[] {
  if (toolCalls.length > 0) {
    const calls = toolCalls.map((call) => ({ id: call.callId, type: 'function' as const, function: { name: plainName(call.toolName), arguments: call.arguments } }))
    return [{ role: 'assistant', content: text === '' ? null : wellFormed(text), tool_calls: calls }]
  }
  // Providers refuse an assistant message that says nothing.
  return text === '' ? [] : [{ role: 'assistant', content: wellFormed(text) }]
}

/** The pixels themselves: no provider has to fetch anything. */
export function imageUrl ({ mediaType, base64 }: ModelImage): string {
  return `data:${mediaType};base64,${base64}`
}

/** Half a surrogate pair, of an emoji cut in two, makes strict providers refuse the whole history. */
export function wellFormed (text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** A name that a model made up is replayed too, and must not make the provider refuse the whole history. */
export function plainName (name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed_tool'
}

function toolChoice (choice: ToolChoice): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } }
}

function responseFormat (schema: JsonSchema, { responseFormat: kind }: Dialect): Pick<Params, 'response_format'> {
  if (kind === 'prompt') return {}
  if (kind === 'json_object') return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { ...schema }, strict: isStrict(schema) } } }
}

/** Strict mode takes only schemas whose objects are closed and whose properties are all required. */
export function isStrict (schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (typeof schema !== 'object' || schema === null) return true
  const { type, properties, required, additionalProperties } = schema as JsonSchema // an object, so its fields are unknowns
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(properties ?? {})
    if (additionalProperties !== false || !Array.isArray(required) || !names.every((name) => required.includes(name))) return false
  }
  return Object.values(schema).every(isStrict)
}

function settings (given: ModelSettings, { outputLimit }: Dialect): Partial<Params> {
  const { temperature, topP, maxOutputTokens, reasoningEffort, seed, stop, frequencyPenalty, presencePenalty } = given
  return dropAbsent({
    temperature,
    top_p: topP,
    [outputLimit]: maxOutputTokens,
    reasoning_effort: reasoningEffort,
    seed,
    stop: stop === undefined ? undefined : [...stop],
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty
  })
}

function dropAbsent (fields: Record<string, unknown>): Partial<Params> {
  // The names above are those of Params; efforts are open, since servers add their own.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Params>
}
