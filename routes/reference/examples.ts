// The things of one small conversation, as they appear in all examples.

export const threadId = 'thread-4f2a91c0'
export const agentId = '5b0d1f6e-3c52-5a0e-9d7b-0f4f6f3d2a11'
export const questionId = '0197a3b2-6c1e-7b40-8a11-3d5f0c9e2b01'
export const answerId = '0197a3b2-6c1f-7d02-9c3e-5a7b1e4d8f02'
export const runId = '0197a3b2-6c1f-7d02-9c3e-61b2c3d4e5f6'

const createdAt = '2026-03-01T09:30:00.000Z'
const usage = { input: 42, output: 9, reasoning: 0, cachedRead: 0, cacheWrite: 0 }

export const threadExample = {
  id: threadId, ownerId: 'ada', agentId, title: 'Opening hours on Sunday', metadata: { shop: 'north' }, archived: false, headId: answerId,
  messageCount: 2, createdAt, updatedAt: '2026-03-01T09:30:02.000Z', lastMessageAt: '2026-03-01T09:30:02.000Z'
}

export const questionExample = {
  id: questionId, role: 'user', metadata: { createdAt, status: 'completed', threadId, siblings: 1 },
  parts: [{ type: 'text', text: 'When do you open on Sunday?' }]
}

export const answerExample = {
  id: answerId, role: 'assistant',
  metadata: { createdAt, status: 'completed', finishReason: 'stop', usage, processingMs: 1_840, model: 'openai:gpt-4.1-mini', threadId, runId, siblings: 1 },
  parts: [{ type: 'step-start' }, { type: 'text', text: 'At ten.', state: 'done' }]
}

export const runExample = { id: runId, threadId, messageId: answerId, agentId, status: 'completed', errorCode: null, createdAt, endedAt: '2026-03-01T09:30:02.000Z' }

export const approvalExample = {
  id: '6f0f1a52-7c1b-4d55-9f0e-2b8d0d2f7a10', threadId, runId, messageId: answerId, callId: 'call_1', agentPath: [], toolName: 'send_mail', input: { to: 'shop@example.org' },
  status: 'pending', reason: null, createdAt, expiresAt: '2026-03-02T09:30:00.000Z', decidedAt: null
}

export const artifactExample = {
  id: '0197a3b2-7b22-7c31-8d4e-1f2a3b4c5d6e', threadId, messageId: answerId, runId, name: 'report', data: { title: 'Opening hours', pages: 2 },
  callId: 'call_2', sourceCallId: null, agentPath: [], createdAt
}

export const agentExample = {
  id: agentId, key: 'assistant', name: 'Assistant', description: 'Answers questions and does sums.', model: 'openai:gpt-4.1-mini',
  fileUpload: false, vision: false, retrieval: false, suggestions: false
}

export const runtimeAgentExample = {
  id: '0197a3b2-7c01-7a10-9b2c-3d4e5f6a7b8c', base: 'assistant', name: 'Poet', description: 'Answers in verse.', model: null, tools: ['look_up_order'],
  suggestions: null, active: true, createdAt, updatedAt: createdAt, instructions: 'Answer in rhymes.', createdBy: 'ada', problem: null
}

export const agentToolsExample = {
  tools: [{ name: 'look_up_order', label: 'Orders', description: 'The state of an order.' }],
  integrations: [{ name: 'docs', label: 'Handbook' }],
  children: [{
    toolName: 'researcher', mode: 'request', id: '2d33ff22-b9e9-5fb0-862c-f260ae70061f', name: 'Researcher', description: 'Looks facts up.',
    tools: [{ name: 'search', label: 'Search', description: '' }], integrations: [], children: []
  }]
}

export const runResultExample = { output: 'At ten.', text: 'At ten.', usage, finishReason: 'stop', toolCalls: [] }

export const usageLineExample = { model: 'openai:gpt-4.1-mini', agentPath: '', calls: 1, usage, estimated: false }

const fileId = '0197a3b2-7a10-7e44-b1c2-8d9e0f1a2b3c'

export const fileExample = {
  id: fileId, threadId, name: 'visitors.csv', mediaType: 'text/csv', size: 23, status: 'completed', step: null, error: null,
  facts: { encoding: 'utf-8', rows: 1, columns: ['city', 'visitors'], delimiter: ',' },
  url: `/v1/threads/${threadId}/files/${fileId}/content`, createdAt, updatedAt: createdAt
}

export const modelExample = { id: 'assistant', object: 'model', created: 0, owned_by: 'parley' }

export const completionExample = {
  id: `chatcmpl-${runId}`, object: 'chat.completion', created: 1_772_357_400, model: 'assistant',
  choices: [{ index: 0, message: { role: 'assistant', content: 'At ten.', refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 42, completion_tokens: 9, total_tokens: 51, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } }
}

export const chatStreamExample = frames(
  { type: 'start', messageId: answerId }, { type: 'start-step' }, { type: 'text-start', id: 'b1' }, { type: 'text-delta', id: 'b1', delta: 'At ten.' }, { type: 'text-end', id: 'b1' },
  { type: 'finish-step' }, { type: 'finish', finishReason: 'stop', messageMetadata: answerExample.metadata }
) + 'data: [DONE]\n\n'

export const agUiStreamExample = frames(
  { type: 'RUN_STARTED', threadId, runId: 'run-1' }, { type: 'STEP_STARTED', stepName: 'step-1' }, { type: 'TEXT_MESSAGE_START', messageId: answerId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: answerId, delta: 'At ten.' }, { type: 'TEXT_MESSAGE_END', messageId: answerId }, { type: 'STEP_FINISHED', stepName: 'step-1' },
  { type: 'RUN_FINISHED', threadId, runId: 'run-1' }
)

export const eventStreamExample = [
  { type: 'message-start', messageId: answerId, runId, threadId, agentId, model: 'openai:gpt-4.1-mini', continued: false, seq: 0, at: createdAt },
  { type: 'step-start', step: 1, seq: 1, at: createdAt }
].map((event) => `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join('')

export const completionStreamExample = frames(
  { id: `chatcmpl-${runId}`, object: 'chat.completion.chunk', created: 1_772_357_400, model: 'assistant', choices: [{ index: 0, delta: { content: 'At ten.' }, finish_reason: null }] },
  { id: `chatcmpl-${runId}`, object: 'chat.completion.chunk', created: 1_772_357_400, model: 'assistant', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
) + 'data: [DONE]\n\n'

function frames (...chunks: readonly object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
}
