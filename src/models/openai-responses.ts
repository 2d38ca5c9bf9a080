import { APIError } from 'openai'
import type { Model, ModelMessage, ModelRequest } from './model.ts'
import { createOpenAIModel, type OpenAIApi, type OpenAIModelOptions } from './openai-model.ts'
import { createResponseReader } from './openai-response-reader.ts'
import { initialResponsesDialect, simplerResponsesDialect, type ResponsesDialect } from './openai-responses-dialect.ts'
import { responsesRequest } from './openai-responses-request.ts'

const responses: OpenAIApi<ResponsesDialect> = {
  initialDialect: initialResponsesDialect,
  simplerDialect: simplerResponsesDialect,
  createReader: (modelId) => ({ estimate }) => createResponseReader({ estimate, modelId }),
  async send (request, { id, modelName, client, dialect, signal }) {
    const ask = async (asked: ModelRequest) => await client.post('/responses', responsesRequest({ id, modelName }, asked, dialect), signal)
    try {
      return await ask(request)
    } catch (error) {
      if (!isAboutReasoning(error) || !request.messages.some(hasReasoning)) throw error
      return await ask({ ...request, messages: request.messages.map(withoutReasoning) })
    }
  }
}

/** A model behind a server that speaks OpenAI's Responses API. Nothing is stored there: reasoning goes back with each request. */
export function createOpenAIResponsesModel (options: OpenAIModelOptions<ResponsesDialect>): Model {
  return createOpenAIModel(responses, options)
}

/** Reasoning that its own server cannot read any more, after a change of keys for example, must not end the conversation. */
function isAboutReasoning (error: unknown): boolean {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false
  return /encrypted|reasoning|\brs_/i.test(`${error.message} ${String(error.code)} ${String(error.param)}`)
}

function hasReasoning (message: ModelMessage): boolean {
  return message.role === 'assistant' && message.reasoning !== undefined
}

function withoutReasoning (message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant') return message
  const { reasoning, ...rest } = message
  return rest
}
