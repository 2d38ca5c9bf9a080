import type { OpenAI } from 'openai'
import { isAppError } from '../errors.ts'
import type { Batch } from '../streams/batch.ts'
import { estimateUsage } from './estimate.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'
import { createChatAnswer, type ChatAnswer } from './openai-chat-answer.ts'
import { chatRequest } from './openai-chat-request.ts'
import { initialDialect, simplerDialect, type Dialect } from './openai-dialect.ts'
import { openUpstreamCall } from './upstream-call.ts'
import { upstreamError } from './upstream-error.ts'
import type { UpstreamResponse } from './upstream-fetch.ts'

export interface OpenAIChatOptions {
  /** `provider:model`. */
  readonly id: string
  readonly modelName: string
  /** Made by createOpenAIClient: the bodies of its answers are Node streams. */
  readonly client: OpenAI
  /** Told when the server refused a part of a request and is asked without it from then on. */
  readonly onSimplified?: ((dialect: Dialect) => void) | undefined
}

/** A model behind any server that speaks OpenAI's chat completions. One batch of events for each network chunk. */
export function createOpenAIChatModel ({ id, modelName, client, onSimplified }: OpenAIChatOptions): Model {
  let dialect = initialDialect(client.baseURL)

  return { id, generate }

  async function * generate (request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Batch<ModelEvent>, void> {
    const call = openUpstreamCall(signal)
    let out: ModelEvent[] = []
    let answer: ChatAnswer | undefined
    try {
      const { headers, body } = call.took(await ask(request, call.signal))
      answer = createChatAnswer({ contentType: headers.get('content-type') ?? '', estimate: (characters) => estimateUsage(request, characters) })
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        answer.push(chunk, out)
        if (out.length > 0) {
          yield out
          out = []
        }
        if (answer.over()) return
        if (answer.finishing()) call.expectEnd()
      }
      answer.end(out)
      yield out
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const failure = settle(error, answer, out)
      if (out.length > 0) yield out
      if (failure !== undefined) throw failure
    } finally {
      call.close(answer?.over() === true ? 'drain' : 'cut')
    }
  }

  async function ask (request: ModelRequest, signal: AbortSignal): Promise<UpstreamResponse> {
    for (;;) {
      const asked = dialect
      try {
        const response = await client.chat.completions.create(chatRequest(modelName, request, asked), { signal }).asResponse()
        return response as unknown as UpstreamResponse // made by our own fetch
      } catch (error) {
        const simpler = simplerDialect(asked, error)
        if (simpler === undefined) throw error
        dialect = simpler
        onSimplified?.(simpler)
      }
    }
  }
}

/** Adds to `out` what an answer that stopped still gives, and says what is to be thrown after it. */
function settle (error: unknown, answer: ChatAnswer | undefined, out: ModelEvent[]): unknown {
  // A connection that breaks, or never ends, behind the finish reason has nothing more to tell.
  if (answer?.finishing() === true && !isAppError(error)) {
    answer.end(out)
    return undefined
  }
  answer?.abandon(out)
  return upstreamError(error)
}
