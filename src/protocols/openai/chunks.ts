import { addUsage, noUsage, type Usage } from '../../events/usage.ts'
import { isTerminal, type FinishReason, type RunEvent, type TerminalEvent } from '../../events/run-event.ts'
import type { BatchStream } from '../../streams/batch.ts'
import { createSpokenText } from '../spoken-text.ts'
import { dataFrame, done, sseHeaders } from '../sse.ts'
import { errorBody } from './error-body.ts'

export interface CompletionOptions {
  /** The agent, as clients name it. */
  readonly model: string
  /** Whether the usage is told in a chunk of its own at the end. */
  readonly includeUsage: boolean
  /** A JSON value was asked for: what was said on the way to it is not part of it. */
  readonly onlyLastStep: boolean
}

export const completionHeaders = sseHeaders

const finishReasons: Readonly<Record<FinishReason, 'stop' | 'length' | 'content_filter'>> = {
  stop: 'stop', length: 'length', 'content-filter': 'content_filter',
  // The agent's tools run here: to its caller, the answer is finished.
  'tool-calls': 'stop', error: 'stop', other: 'stop'
}

/** A run as the chunks of a streamed chat completion. Ends after `[DONE]`, or after the error that broke the run. */
export async function * encodeChunks (events: BatchStream<RunEvent>, options: CompletionOptions): AsyncGenerator<string, void> {
  const answer = createAnswerReader(options)
  let chunk: (choices: readonly object[], usage?: object | null) => string = () => ''
  for await (const batch of events) {
    let frames = ''
    for (const event of batch) {
      if (event.type === 'message-start') {
        chunk = createChunkWriter(event, options)
        frames += chunk([choice({ role: 'assistant', content: '' })])
      }
      const { text, reasoning } = answer.read(event)
      if (reasoning !== '') frames += chunk([choice({ reasoning_content: reasoning })])
      if (text !== '') frames += chunk([choice({ content: text })])
      if (isTerminal(event)) frames += ending(event)
    }
    if (frames !== '') yield frames
    if (batch.some(isTerminal)) return
  }
  // A clean close here would look like a finished answer.
  throw new Error('The run ended without a terminal event')

  function ending (end: TerminalEvent): string {
    if (end.type === 'run-failed' || end.type === 'run-interrupted') return dataFrame(JSON.stringify(errorBody(end)))
    const usage = options.includeUsage ? chunk([], usageOf(answer.usage())) : ''
    return chunk([choice({}, answer.finishReason(end))]) + usage + done
  }
}

export interface AnswerReader {
  /** What an event adds to the answer. */
  read: (event: RunEvent) => { readonly text: string, readonly reasoning: string }
  usage: () => Usage
  finishReason: (end: TerminalEvent) => string
}

/** What a completion says of a run, event by event; the same streamed and whole. */
export function createAnswerReader ({ onlyLastStep }: Pick<CompletionOptions, 'onlyLastStep'>): AnswerReader {
  const textOf = createSpokenText()
  const reasoningOf = createSpokenText('reasoning')
  let held = ''
  let calls = noUsage
  let total: Usage | undefined
  let reason: FinishReason = 'stop'

  return {
    read (event) {
      if (event.type === 'usage') calls = addUsage(calls, event.buckets)
      if (event.type === 'message-end') {
        total = event.usage
        reason = event.finishReason
      }
      return { text: onlyLastStep ? lastStep(event) : textOf(event), reasoning: reasoningOf(event) }
    },
    usage: () => total ?? calls,
    finishReason: (end) => end.type === 'run-suspended' ? 'tool_calls' : finishReasons[reason]
  }

  function lastStep (event: RunEvent): string {
    if (event.type === 'step-start' && event.agentPath === undefined) held = ''
    if (event.type === 'text-delta' && event.agentPath === undefined) held += event.delta
    return event.type === 'run-completed' ? unfenced(held) : ''
  }
}

export function usageOf ({ input, output, reasoning, cachedRead }: Usage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedRead },
    completion_tokens_details: { reasoning_tokens: reasoning }
  }
}

/** Some models wrap JSON in a Markdown fence although told not to. */
function unfenced (text: string): string {
  return /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text
}

/** What every chunk of one completion, and the completion itself, begins with. */
export function headOf (event: RunEvent & { type: 'message-start' }, object: string, model: string) {
  return { id: `chatcmpl-${event.runId}`, object, created: Math.floor(Date.parse(event.at) / 1000), model }
}

function createChunkWriter (start: RunEvent & { type: 'message-start' }, { model, includeUsage }: CompletionOptions): (choices: readonly object[], usage?: object | null) => string {
  const head = headOf(start, 'chat.completion.chunk', model)
  return (choices, usage = null) => dataFrame(JSON.stringify({ ...head, choices, ...(includeUsage ? { usage } : {}) }))
}

function choice (delta: object, finishReason: string | null = null): object {
  return { index: 0, delta, finish_reason: finishReason }
}
