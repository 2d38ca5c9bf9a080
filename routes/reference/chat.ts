import { z } from 'zod'
import type { Answer } from '../../plugins/openapi.ts'
import { chatBodySchema } from '../../src/protocols/ai-sdk/decode.ts'
import { describe, json, nothing, text } from './describe.ts'
import { agUiStreamExample, chatStreamExample, questionExample, runId, threadId } from './examples.ts'

const question = { id: questionExample.id, role: 'user', parts: questionExample.parts }
const errors = ['not_found', 'conflict', 'thread_busy', 'payload_too_large', 'configuration_error', 'shutting_down'] as const

const idHeaders = { 'x-thread-id': 'The thread, where there is one', 'x-run-id': 'The run that writes the answer' }

const reply: Answer = {
  description: 'The answer as it is written, on the wire that `protocol` or the agent chooses. A failure after its beginning is told in the stream.',
  content: {
    'text/event-stream': { schema: z.string(), example: chatStreamExample },
    'text/plain': { schema: z.string(), example: 'At ten.' }
  },
  headers: idHeaders
}

const idle = nothing('Nothing is being written here, or there is no such thread')

export const chatReference = {
  send: describe({
    id: 'sendMessage', tag: 'Chat', summary: 'Send a message and stream the answer',
    description: 'The thread is made on first use. The body is what a chat client sends, or the new message alone as `message`, or `text`. `trigger: regenerate-message` writes an answer again.',
    body: { schema: chatBodySchema, example: { message: question } },
    answers: { 200: reply }, errors
  }),
  resume: describe({
    id: 'followThread', tag: 'Chat', summary: 'Join the answer that is being written, from its beginning',
    answers: { 200: reply, 204: idle }
  }),
  stop: describe({
    id: 'stopThread', tag: 'Chat', summary: 'Stop the answer that is being written; what was said stays',
    answers: { 200: json('The run that was stopped, if any', z.object({ runId: z.string().nullable() }), { runId }) },
    errors: ['not_found']
  }),
  useChat: describe({
    id: 'chat', tag: 'Chat', summary: 'Send a message the way useChat does',
    description: '`id` is the thread, which is made on first use; without it nothing is stored.',
    body: { schema: chatBodySchema, example: { id: threadId, messages: [question], trigger: 'submit-message' } },
    answers: { 200: reply }, errors
  }),
  agUi: describe({
    id: 'runAgUi', tag: 'Chat', summary: 'Send a message the way clients of AG-UI do',
    description: '`threadId` is the thread, which is made on first use. Of `messages` the newest turn is read: what the user says, or results of tool calls; `resume` answers what interrupted the run before.',
    body: { example: { threadId, runId: 'run-1', messages: [{ id: questionExample.id, role: 'user', content: questionExample.parts[0]?.text }], tools: [], context: [], state: {}, forwardedProps: {} } },
    answers: { 200: { ...text('The events of the run. A failure after its beginning is told in the stream.', agUiStreamExample, 'text/event-stream'), headers: idHeaders } }, errors
  }),
  resumeUseChat: describe({
    id: 'resumeChat', tag: 'Chat', summary: 'Join the answer that is being written, the way useChat does',
    answers: { 200: reply, 204: idle }
  })
}
