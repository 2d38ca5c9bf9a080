import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { JsonSchema, ModelMessage, ModelSettings } from '../../models/model.ts'
import { decodeTurns } from './decode-turns.ts'

const part = z.looseObject({ type: z.string(), text: z.string().optional() })
const content = z.union([z.string(), z.array(part)], 'expected text or parts')
const toolCall = z.object({ id: z.string().min(1), function: z.object({ name: z.string().min(1), arguments: z.string() }) })

const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content }),
  z.object({ role: z.literal('user'), content }),
  z.object({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(toolCall).nullish() }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content })
], 'expected a message of role system, developer, user, assistant or tool')

export type CompletionMessage = z.output<typeof message>

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), json_schema: z.object({ name: z.string().optional(), schema: z.record(z.string(), z.unknown()).optional() }) })
], 'expected type text, json_object or json_schema')

// A caller's own tools: agents bring theirs, and nobody would run these.
const unsupported = z.array(z.unknown()).max(0, 'not supported: the agent has tools of its own').nullish()

/** A request for a chat completion. What is not named here is ignored, `user` and `store` for example. */
export const completionBody = z.object({
  model: z.string('expected the key or id of an agent').min(1).max(200),
  messages: z.array(message).min(1).max(1_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: format.nullish(),
  tools: unsupported,
  functions: unsupported,
  n: z.literal(1, 'expected 1: an agent gives one answer').nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  reasoning_effort: z.string().nullish()
})

export type CompletionBody = z.output<typeof completionBody>

export interface CompletionRequest {
  readonly messages: readonly ModelMessage[]
  /** What system and developer messages say. */
  readonly callerInstructions: string | undefined
  readonly settings: ModelSettings
  readonly responseFormat: JsonSchema | undefined
}

/** What a checked body asks of an agent. Throws invalid_request naming each wrong field by its path. */
export function decodeCompletion (body: CompletionBody): CompletionRequest {
  const { turns, instructions, issues } = decodeTurns(body.messages)
  const [first] = issues
  if (first !== undefined) throw invalidRequest(`${first.path}: ${first.message}`, issues)
  return {
    messages: turns,
    callerInstructions: instructions === '' ? undefined : instructions,
    settings: settingsOf(body),
    responseFormat: schemaOf(body.response_format ?? { type: 'text' })
  }
}

function schemaOf (asked: z.output<typeof format>): JsonSchema | undefined {
  switch (asked.type) {
    case 'text': return undefined
    case 'json_object': return { type: 'object' }
    case 'json_schema': return asked.json_schema.schema ?? { type: 'object' }
    default: return asked satisfies never
  }
}

function settingsOf ({ temperature, top_p: topP, max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens, seed, stop, reasoning_effort: reasoningEffort, frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty }: CompletionBody): ModelSettings {
  const settings = {
    temperature, topP, seed, reasoningEffort, frequencyPenalty, presencePenalty,
    maxOutputTokens: maxCompletionTokens ?? maxTokens,
    stop: typeof stop === 'string' ? [stop] : stop
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null))
}
