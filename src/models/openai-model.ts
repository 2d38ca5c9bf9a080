import { isAppError } from '../errors.ts'
import type { Batch } from '../streams/batch.ts'
import { bodyChunks } from './body-chunks.ts'
import { estimateUsage } from './estimate.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'
import { createChatAnswer, type AnswerOptions, type ChatAnswer } from './openai-chat-answer.ts'
import type { OpenAIClient } from './openai-client.ts'
import { openUpstreamCall } from './upstream-call.ts'
import { upstreamError } from './upstream-error.ts'
import type { UpstreamResponse } from './upstream-post.ts'

export interface OpenAIModelOptions<Dialect> {
  /** `provider:model`. */
  readonly id: string
  readonly modelName: string
  readonly client: OpenAIClient
  /** Told when the server refused a part of a request and is asked without it from then on. */
  readonly onSimplified?: ((dialect: Dialect) => void) | undefined
}

/** One of OpenAI's ways to ask a model: how a request is put, what is left out when it is refused, how answers are read. */
export interface OpenAIApi<Dialect> {
  readonly initialDialect: (baseURL: string) => Dialect
  readonly send: (request: ModelRequest, options: { readonly id: string, readonly modelName: string, readonly client: OpenAIClient, readonly dialect: Dialect, readonly signal: AbortSignal }) => Promise<UpstreamResponse>
  /** The dialect to ask again in after `error`, or undefined when the refusal was about something else. */
  readonly simplerDialect: (dialect: Dialect, error: unknown) => Dialect | undefined
  readonly createReader?: ((modelId: string) => AnswerOptions['createReader']) | undefined
}

/** A model behind a server that speaks `api`. One batch of events for each network chunk. */
export function createOpenAIModel<Dialect> (api: OpenAIApi<Dialect>, { id, modelName, client, onSimplified }: OpenAIModelOptions<Dialect>): Model {
  const createReader = api.createReader?.(id)
  let dialect = api.initialDialect(client.baseURL)

  return { id, generate }

  async function * generate (request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<Batch<ModelEvent>, void> {
    const call = openUpstreamCall()
    let out: ModelEvent[] = []
    let answer: ChatAnswer | undefined
    try {
      signal.throwIfAborted()
      const { contentType, body } = call.took(await ask(request, signal))
      answer = createChatAnswer({ contentType, estimate: (characters) => estimateUsage(request, characters), createReader })
      for await (const chunk of bodyChunks(body)) {
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
        return await api.send(request, { id, modelName, client, dialect: asked, signal })
      } catch (error) {
        const simpler = api.simplerDialect(asked, error)
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
