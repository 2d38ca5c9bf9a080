import { completionBody, decodeCompletion } from '../../src/protocols/openai/completion-request.ts'
import { collectCompletion } from '../../src/protocols/openai/completion.ts'
import { completionHeaders, encodeChunks } from '../../src/protocols/openai/chunks.ts'
import { refuseEarlyFailure } from '../../src/protocols/openai/early-failure.ts'
import { openaiReference } from '../reference/openai.ts'
import { asOpenAI } from '../openai-errors.ts'
import type { RoutePlugin } from '../route-plugin.ts'

/** Agents behind the API of OpenAI's chat completions. Nothing is kept, so a run ends with its connection. */
const chatCompletions: RoutePlugin = async (app) => {
  asOpenAI(app)

  app.post('/chat/completions', { schema: { ...openaiReference.complete, body: completionBody } }, async (request, reply) => {
    const { model, stream, stream_options: streamOptions } = request.body
    const { messages, callerInstructions, settings, responseFormat } = decodeCompletion(request.body)
    const signal = reply.closeSignal()
    const answer = await app.chat.takeStatelessTurn(request.principal, {
      agentId: model, messages, metadata: undefined,
      run: { settings, suggests: false, ...(callerInstructions === undefined ? {} : { callerInstructions }) },
      response: responseFormat === undefined ? undefined : { schema: responseFormat, path: 'response_format' }
    })
    const options = { model: answer.agent?.key ?? model, includeUsage: streamOptions?.include_usage === true, onlyLastStep: responseFormat !== undefined }
    void reply.header('x-run-id', answer.runId ?? '')
    if (stream !== true) return await collectCompletion(answer.events(signal), options)
    const events = await refuseEarlyFailure(answer.events(signal), signal)
    return reply.stream(encodeChunks(events, options), completionHeaders)
  })
}

export default chatCompletions
