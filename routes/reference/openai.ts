import { z } from 'zod'
import { describe, json } from './describe.ts'
import { completionExample, completionStreamExample, modelExample } from './examples.ts'
import { completionShape, modelShape } from './shapes.ts'

const completion = json('The answer: one object, or chunks with `stream: true`', completionShape, completionExample)

export const openaiReference = {
  complete: describe({
    id: 'createChatCompletion', tag: 'OpenAI', summary: 'Get an answer the way clients of OpenAI do',
    description: '`model` is the key or id of an agent. Nothing is stored.',
    body: { example: { model: 'assistant', messages: [{ role: 'user', content: 'When do you open on Sunday?' }], stream: true } },
    answers: { 200: { ...completion, content: { ...completion.content, 'text/event-stream': { schema: z.string(), example: completionStreamExample } }, headers: { 'x-run-id': 'The run that writes the answer' } } },
    errors: ['not_found', 'payload_too_large', 'context_overflow', 'content_filtered', 'configuration_error', 'provider_unavailable', 'provider_timeout', 'shutting_down']
  }, 'openai'),
  models: describe({
    id: 'listModels', tag: 'OpenAI', summary: 'List agents as models',
    answers: { 200: json('All of them', z.object({ object: z.literal('list'), data: z.array(modelShape) }), { object: 'list', data: [modelExample] }) }
  }, 'openai'),
  model: describe({
    id: 'getModel', tag: 'OpenAI', summary: 'Read one agent as a model',
    answers: { 200: json('The model', modelShape, modelExample) },
    errors: ['not_found']
  }, 'openai')
}
