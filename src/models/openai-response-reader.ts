import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { ModelEvent } from './model.ts'
import type { ChatReader } from './openai-chat-reader.ts'
import { createResponseItems } from './openai-response-items.ts'
import { streamedError, upstreamFailed } from './upstream-error.ts'

type Fields = Readonly<Record<string, unknown>>

export interface ResponseReaderOptions {
  /** The model that is given its reasoning back. */
  readonly modelId: string
  /** Asked when no usage came. */
  readonly estimate: (outputCharacters: number) => Usage
}

/** Events of one answer of the Responses API, or the answer as one JSON object, to ModelEvents. */
export function createResponseReader ({ modelId, estimate }: ResponseReaderOptions): ChatReader {
  const items = createResponseItems({ modelId })
  let usage: Usage | undefined
  let finish: FinishReason | undefined

  return {
    read,
    end,
    abandon: (out) => { items.end('lost', out) },
    // The event that tells the reason is the last one and tells the usage too.
    finishing: () => false
  }

  function read (payload: string, out: ModelEvent[]): boolean {
    if (payload.trim() === '[DONE]') return finish !== undefined
    // A keep-alive comment that a proxy has put into a data field.
    if (payload.startsWith(':')) return false
    const event = parse(payload)
    if (event.object === 'response') return readResponse(event, out)
    if (event.type === undefined && isRecord(event.error)) throw streamedError(event.error)
    switch (event.type) {
      case 'error': throw streamedError(isRecord(event.error) ? event.error : event)
      case 'response.completed': case 'response.incomplete': case 'response.failed': case 'response.cancelled':
        return readResponse(isRecord(event.response) ? event.response : {}, out, event.type.slice('response.'.length))
      default:
        if (typeof event.type === 'string') items.read(event.type, event, out)
        return false
    }
  }

  function readResponse (response: Fields, out: ModelEvent[], told?: string): boolean {
    const status = told ?? response.status
    usage = usageOf(response.usage) ?? usage
    if (status === 'failed' || isRecord(response.error)) throw streamedError(response.error)
    if (status === 'cancelled') throw brokeOff()
    if (Array.isArray(response.output)) items.readAll(response.output, out)
    finish = status === 'incomplete' ? incompleteReason(response.incomplete_details) : 'stop'
    return true
  }

  function end (out: ModelEvent[]): void {
    if (finish === undefined) throw brokeOff()
    items.end(finish === 'stop' ? 'whole' : 'cut', out)
    out.push(usage === undefined ? { type: 'usage', usage: estimate(items.characters()), estimated: true } : { type: 'usage', usage, estimated: false })
    out.push({ type: 'finish', reason: finish === 'stop' && items.anyCall() ? 'tool-calls' : finish })
  }
}

function incompleteReason (details: unknown): FinishReason {
  const reason = isRecord(details) ? details.reason : undefined
  if (reason === 'max_output_tokens') return 'length'
  return reason === 'content_filter' ? 'content-filter' : 'other'
}

function parse (payload: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    // The parser's own message quotes what it read.
  }
  if (!isRecord(value)) throw upstreamFailed('provider_unavailable', 'The model sent something unreadable.')
  return value
}

function brokeOff () {
  return upstreamFailed('provider_unavailable', 'The model broke off while it was answering. Try again.')
}

function usageOf (value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const input = count(value.input_tokens)
  const output = count(value.output_tokens)
  // Servers that do not count send zeros.
  if (input + output === 0) return undefined
  const inputDetails = isRecord(value.input_tokens_details) ? value.input_tokens_details : {}
  const outputDetails = isRecord(value.output_tokens_details) ? value.output_tokens_details : {}
  return { input, output, reasoning: count(outputDetails.reasoning_tokens), cachedRead: count(inputDetails.cached_tokens), cacheWrite: count(inputDetails.cache_write_tokens) }
}

function count (value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0
}

function isRecord (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
