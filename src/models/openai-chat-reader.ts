import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { ModelEvent } from './model.ts'
import { createToolCallReader, type ToolCallReader } from './openai-tool-calls.ts'
import { createRepeatedChunk, type RepeatedChunk } from './repeated-chunk.ts'
import { streamedError, upstreamFailed } from './upstream-error.ts'

export interface ChatReader {
  /** What one chunk of a chat completion says; true once the stream said that it is over. Throws AppErrors. */
  read: (payload: string, out: ModelEvent[]) => boolean
  /** Ends the answer with calls, usage and finish. Throws provider_unavailable where the upstream broke off. */
  end: (out: ModelEvent[]) => void
  /** What is left of an answer that broke: its calls, none of them complete. */
  abandon: (out: ModelEvent[]) => void
  /** The model has given its reason to finish; usage may still come. */
  finishing: () => boolean
}

type Fields = Readonly<Record<string, unknown>>
type SpokenType = 'text-delta' | 'reasoning-delta'

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls'
}

/** Reasons by which a provider says that it failed. */
const failedReasons: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource'])

/** Chunks of one answer in any dialect of chat completions to ModelEvents. `estimate` is asked when no usage came. */
export function createChatReader ({ estimate }: { readonly estimate: (outputCharacters: number) => Usage }): ChatReader {
  const answer: AnswerState = { estimate, repeated: createRepeatedChunk(), repeatedType: 'text-delta', calls: undefined, usage: undefined, finish: undefined, done: false, characters: 0 }
  return {
    read: (payload, out) => read(answer, payload, out),
    end: (out) => { end(answer, out) },
    abandon: (out) => { answer.calls?.end('lost', out) },
    finishing: () => answer.finish !== undefined
  }
}

interface AnswerState {
  readonly estimate: (outputCharacters: number) => Usage
  readonly repeated: RepeatedChunk
  repeatedType: SpokenType
  /** From the first call on. */
  calls: ToolCallReader | undefined
  usage: Usage | undefined
  finish: FinishReason | undefined
  done: boolean
  characters: number
}

function read (answer: AnswerState, payload: string, out: ModelEvent[]): boolean {
  const text = answer.repeated.textOf(payload)
  if (text !== undefined) say(answer, answer.repeatedType, text, out)
  else if (payload.trim() === '[DONE]') answer.done = true
  // Otherwise a keep-alive comment that a proxy has put into a data field.
  else if (!payload.startsWith(':')) readChunk(answer, payload, out)
  return answer.done
}

function readChunk (answer: AnswerState, payload: string, out: ModelEvent[]): void {
  const chunk = parseChunk(payload)
  if (chunk.error !== undefined && chunk.error !== null) throw streamedError(chunk.error)
  if (chunk.object === 'error' || chunk.type === 'error') throw streamedError(chunk)
  readUsage(answer, chunk)
  const choice = firstChoice(chunk)
  if (choice === undefined) return
  const known = out.length
  readChoice(answer, choice, out)
  if (out.length === known + 1 && onlySpeaks(choice)) learn(answer, payload, out[known]!) // the one that came
}

/** A chunk that said one text, once, and whatever else is in it was of no consequence. */
function learn (answer: AnswerState, payload: string, said: ModelEvent): void {
  if ((said.type !== 'text-delta' && said.type !== 'reasoning-delta') || answer.usage !== undefined || answer.finish !== undefined) return
  const { type, delta } = said
  if (answer.repeated.learn(payload, delta, (other) => textIn(other, type))) answer.repeatedType = type
}

function readChoice (answer: AnswerState, choice: Fields, out: ModelEvent[]): void {
  if (isRecord(choice.error)) throw streamedError(choice.error)
  if (answer.usage === undefined) readUsage(answer, choice)
  const delta = choice.delta ?? choice.message
  if (isRecord(delta)) readDelta(answer, delta, out)
  const reason = choice.finish_reason
  if (typeof reason !== 'string' || reason === '') return
  if (failedReasons.has(reason)) throw upstreamFailed('provider_unavailable', 'The model broke off while it was answering. Try again.')
  // Calls are not ended here: some servers give a reason with every call and go on.
  answer.finish = finishReasons[reason] ?? 'other'
}

function readDelta (answer: AnswerState, delta: Fields, out: ModelEvent[]): void {
  const { content, refusal } = delta
  const reasoning = firstText(delta.reasoning_content, delta.reasoning)
  if (reasoning !== '') say(answer, 'reasoning-delta', reasoning, out)
  if (typeof content === 'string') say(answer, 'text-delta', content, out)
  else if (Array.isArray(content)) content.forEach((part) => { readPart(answer, part, out) })
  if (typeof refusal === 'string') say(answer, 'text-delta', refusal, out)
  if (Array.isArray(delta.tool_calls)) readCalls(answer, delta.tool_calls, out)
  else if (isRecord(delta.function_call)) readCalls(answer, [{ index: 0, function: delta.function_call }], out)
}

function readCalls (answer: AnswerState, entries: readonly unknown[], out: ModelEvent[]): void {
  answer.calls ??= createToolCallReader()
  answer.calls.read(entries, out)
}

function readPart (answer: AnswerState, part: unknown, out: ModelEvent[]): void {
  if (!isRecord(part)) return
  if (part.type === 'thinking') say(answer, 'reasoning-delta', textOfPart(part.thinking), out)
  else if (typeof part.text === 'string') say(answer, 'text-delta', part.text, out)
}

function say (answer: AnswerState, type: SpokenType, delta: string, out: ModelEvent[]): void {
  if (delta === '') return
  answer.characters += delta.length
  out.push({ type, delta })
}

/** The last one counts: some servers repeat a growing count with every chunk. */
function readUsage (answer: AnswerState, source: Fields): void {
  const groq = source.x_groq
  answer.usage = usageOf(source.usage) ?? (isRecord(groq) ? usageOf(groq.usage) : undefined) ?? answer.usage
}

function end (answer: AnswerState, out: ModelEvent[]): void {
  const called = answer.calls?.any() === true
  const said = answer.characters > 0 || called
  if (answer.finish === undefined && !(answer.done && said)) throw upstreamFailed('provider_unavailable', 'The model broke off while it was answering. Try again.')
  answer.calls?.end(answer.finish === undefined || answer.finish === 'length' || answer.finish === 'content-filter' ? 'cut' : 'whole', out)
  out.push(answer.usage === undefined ? { type: 'usage', usage: answer.estimate(answer.characters + (answer.calls?.characters() ?? 0)), estimated: true } : { type: 'usage', usage: answer.usage, estimated: false })
  out.push({ type: 'finish', reason: reasonFor(answer.finish ?? 'stop', called) })
}

/** What the answer ends in counts, not what its last chunk says about it. */
function reasonFor (reason: FinishReason, called: boolean): FinishReason {
  if (called) return reason === 'stop' ? 'tool-calls' : reason
  return reason === 'tool-calls' ? 'stop' : reason
}

function parseChunk (payload: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    // The parser's own message quotes what it read.
  }
  if (!isRecord(value)) throw upstreamFailed('provider_unavailable', 'The model sent something unreadable.')
  return value
}

function firstChoice ({ choices }: Fields): Fields | undefined {
  return Array.isArray(choices) ? choices.find(isFirstChoice) : undefined
}

/** What a chunk says of one kind, in the one field that kind has. */
function textIn (payload: string, type: SpokenType): unknown {
  const delta = firstChoice(parseChunk(payload))?.delta
  if (!isRecord(delta)) return undefined
  return type === 'text-delta' ? delta.content : firstText(delta.reasoning_content, delta.reasoning)
}

function onlySpeaks ({ delta }: Fields): boolean {
  return isRecord(delta) && (delta.tool_calls ?? delta.function_call ?? null) === null
}

function isFirstChoice (choice: unknown): choice is Fields {
  return isRecord(choice) && (choice.index === undefined || choice.index === null || choice.index === 0)
}

function firstText (...values: readonly unknown[]): string {
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? ''
}

function textOfPart (thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  if (!Array.isArray(thinking)) return ''
  return thinking.map((part: unknown) => isRecord(part) && typeof part.text === 'string' ? part.text : '').join('')
}

/** Our `input` includes cached tokens and `output` includes reasoning, as OpenAI counts them. */
function usageOf (value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const input = count(value.prompt_tokens)
  const completion = count(value.completion_tokens)
  // Servers that do not count send zeros.
  if (input + completion === 0) return undefined
  const inputDetails = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {}
  const reasoning = count(isRecord(value.completion_tokens_details) ? value.completion_tokens_details.reasoning_tokens : 0)
  // xAI counts reasoning beside the completion, which shows in the total.
  const beside = reasoning > 0 && count(value.total_tokens) === input + completion + reasoning
  return {
    input,
    output: beside ? completion + reasoning : completion,
    reasoning,
    cachedRead: count(inputDetails.cached_tokens ?? value.prompt_cache_hit_tokens),
    cacheWrite: count(inputDetails.cache_write_tokens)
  }
}

function count (value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0
}

function isRecord (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
