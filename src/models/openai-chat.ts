import type { Model } from './model.ts'
import { chatRequest } from './openai-chat-request.ts'
import { initialDialect, simplerDialect, type Dialect } from './openai-dialect.ts'
import { createOpenAIModel, type OpenAIApi, type OpenAIModelOptions } from './openai-model.ts'

export type OpenAIChatOptions = OpenAIModelOptions<Dialect>

const chatCompletions: OpenAIApi<Dialect> = {
  initialDialect,
  simplerDialect,
  send: async (request, { modelName, client, dialect, signal }) => await client.post('/chat/completions', chatRequest(modelName, request, dialect), signal)
}

/** A model behind any server that speaks OpenAI's chat completions. */
export function createOpenAIChatModel (options: OpenAIChatOptions): Model {
  return createOpenAIModel(chatCompletions, options)
}
