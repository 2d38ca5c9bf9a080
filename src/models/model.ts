import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { BatchStream } from '../streams/batch.ts'
import type { ModelFacts } from './model-facts.ts'

/** A JSON Schema object (draft 2020-12), as providers take it. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface ModelSettings {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly reasoningEffort?: string | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
}

export interface ModelToolCall {
  readonly callId: string
  readonly toolName: string
  /** The text of one JSON object, valid even where the model's own was not. */
  readonly arguments: string
}

/** Reasoning that its model wants back with the answer it led to, in a form that only that model can read. */
export interface ReasoningKey {
  /** The id of the model, which is the only one to be given it. */
  readonly model: string
  readonly itemId: string
  readonly encryptedContent: string
}

export interface KeptReasoning extends ReasoningKey {
  /** What was shown of it. */
  readonly text: string
}

/** An image as a model sees it. */
export interface ModelImage { readonly mediaType: string, readonly base64: string }

/** What a model is given. Every tool call in it is followed by its result before the next message. */
export type ModelMessage =
  | { readonly role: 'user', readonly content: string, readonly images?: readonly ModelImage[] }
  | { readonly role: 'assistant', readonly text: string, readonly reasoning?: readonly KeptReasoning[], readonly toolCalls: readonly ModelToolCall[] }
  | { readonly role: 'tool', readonly callId: string, readonly toolName: string, readonly content: string }

export interface ModelTool {
  /** Matches ^[a-zA-Z0-9_-]{1,64}$ and is unique in a request. */
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

export type ToolChoice = 'auto' | 'required' | 'none' | { readonly tool: string }

export interface ModelRequest {
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  readonly toolChoice: ToolChoice
  readonly settings: ModelSettings
  /** The answer is one JSON value of this shape. */
  readonly responseSchema?: JsonSchema
}

/**
 * What a model says, in order. Quirks of providers end in the adapter: call ids are never empty and unique in a
 * response, a call is started once its name is known, deltas are never empty, usage comes at most once, and `finish` is
 * last. A stream that ends without `finish` is a bug; a broken upstream is an AppError thrown by the iterator.
 */
export type ModelEvent =
  | { readonly type: 'text-delta', readonly delta: string }
  | { readonly type: 'reasoning-delta', readonly delta: string }
  /** What is being said is whole: the next delta of its kind says something else. `key` belongs to reasoning, which may have shown nothing. */
  | { readonly type: 'block-end', readonly key?: ReasoningKey }
  | { readonly type: 'tool-call-start', readonly callId: string, readonly toolName: string }
  | { readonly type: 'tool-input-delta', readonly callId: string, readonly delta: string }
  /** `complete: false` where the arguments were cut off; such a call is never run. `arguments` is the raw text, '{}' for none. */
  | { readonly type: 'tool-call', readonly callId: string, readonly toolName: string, readonly arguments: string, readonly complete: boolean }
  /** A tool that the provider runs by itself: announced without an outcome, then once more with it. */
  | { readonly type: 'provider-tool', readonly callId: string, readonly toolName: string, readonly outcome?: ProviderToolOutcome }
  /** Something the answer rests on, as the provider cites it. The same one may come again. */
  | { readonly type: 'source', readonly sourceId: string, readonly title: string, readonly url?: string }
  | { readonly type: 'usage', readonly usage: Usage, readonly estimated: boolean }
  | { readonly type: 'finish', readonly reason: FinishReason }

export interface ProviderToolOutcome {
  readonly input: unknown
  readonly output: unknown
  readonly failed: boolean
}

export interface Model extends Readonly<ModelFacts> {
  /** `provider:model`, as shown in metadata and usage. */
  readonly id: string
  /**
   * One call. Throws an AppError (provider_unavailable, provider_timeout, rate_limited, configuration_error,
   * context_overflow, content_filtered) from the iterator, before or after output; the caller retries, not the model.
   * When `signal` aborts, the iterator closes its connection and throws the signal's reason.
   */
  generate: (request: ModelRequest, options: { readonly signal: AbortSignal }) => BatchStream<ModelEvent>
}
