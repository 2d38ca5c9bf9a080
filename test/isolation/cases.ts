import type { Operation } from '../../src/auth/operation.ts'

/** Routes that everybody may call. */
export const publicRoutes: readonly RegExp[] = [/^\/(health|ready|metrics|openapi\.json)$/, /^\/docs(\/|$)/, /^\/$/, /^\*$/]

/**
 * What a route asks permission for, and what it does for somebody who uses ids of another: nothing by id (`own`: it has no ids, or takes another's as its
 * caller's own new one), the answer for ids that do not exist (`missing`, or `tenant` where it is everybody's of the tenant), or that of a thread where nothing runs (`idle`).
 */
export interface RouteCase {
  /** What its caller must be allowed beside seeing what it is about. */
  readonly asks: Operation | undefined
  readonly stranger: 'own' | 'missing' | 'tenant' | 'idle'
  /** Bodies to try; `ids` are those of the other. */
  readonly bodies?: (ids: Ids) => readonly unknown[]
}

export interface Ids { readonly threadId: string, readonly messageId: string, readonly runId: string, readonly fileId: string, readonly approvalId: string, readonly runtimeAgentId: string }

const text = (word: string) => ({ role: 'user', parts: [{ type: 'text', text: word }] })
const toolOutput = (id: string) => ({ message: { id, role: 'assistant', parts: [{ type: 'tool-x', toolCallId: 'c1', state: 'output-available', output: 1 }] } })

/** A multipart body with one text file; its boundary is `bnd`. */
export function uploadBody (content: string): Buffer {
  return Buffer.from(`--bnd\r\ncontent-disposition: form-data; name="file"; filename="notes.txt"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n--bnd--\r\n`)
}

export const routeCases: Readonly<Record<string, RouteCase>> = {
  'GET /v1/agents': { asks: 'view_agent', stranger: 'own' },
  'GET /v1/agents/:agentId': { asks: 'view_agent', stranger: 'own' },
  'GET /v1/agents/:agentId/tools': { asks: 'view_agent', stranger: 'own' },
  'POST /v1/agents/:agentId/run': { asks: 'run', stranger: 'own', bodies: ({ threadId }) => [{ input: 'Hi' }, { input: 'Hi', threadId }] },
  'POST /v1/agents/:agentId/ag-ui': {
    asks: 'chat',
    stranger: 'own',
    bodies: ({ threadId, runId, approvalId }) => {
      const body = { threadId, runId, messages: [{ id: 'm1', role: 'user', content: 'Hi' }], tools: [], context: [], state: {}, forwardedProps: {} }
      return [body, { ...body, resume: [{ interruptId: approvalId, status: 'cancelled' }] }]
    }
  },
  'POST /v1/runtime-agents': { asks: 'manage_agent', stranger: 'own', bodies: () => [{ base: 'quick', name: 'Mine' }] },
  'GET /v1/runtime-agents': { asks: 'view_agent', stranger: 'own' },
  'GET /v1/runtime-agents/:runtimeAgentId': { asks: 'view_agent', stranger: 'tenant' },
  'PATCH /v1/runtime-agents/:runtimeAgentId': { asks: 'manage_agent', stranger: 'tenant', bodies: () => [{ name: 'Taken' }, { active: false }] },
  'DELETE /v1/runtime-agents/:runtimeAgentId': { asks: 'manage_agent', stranger: 'tenant' },
  'GET /v1/models': { asks: 'view_agent', stranger: 'own' },
  'GET /v1/models/:model': { asks: 'view_agent', stranger: 'own' },
  'POST /v1/chat/completions': { asks: 'chat', stranger: 'own', bodies: () => [{ model: 'quick', messages: [{ role: 'user', content: 'Hi' }] }] },

  'POST /v1/threads': { asks: 'chat', stranger: 'own', bodies: ({ threadId }) => [{ id: threadId, tenantId: 'north', ownerId: 'ada', userId: 'ada' }] },
  'GET /v1/threads': { asks: 'list_threads', stranger: 'own' },
  'DELETE /v1/threads': { asks: 'manage_thread', stranger: 'own' },
  'GET /v1/threads/:threadId': { asks: 'view_thread', stranger: 'missing' },
  'PATCH /v1/threads/:threadId': { asks: 'manage_thread', stranger: 'missing', bodies: ({ messageId }) => [{ title: 'Taken' }, { archived: true }, { headId: messageId }] },
  'DELETE /v1/threads/:threadId': { asks: 'manage_thread', stranger: 'missing' },
  'GET /v1/threads/:threadId/usage': { asks: 'view_thread', stranger: 'missing' },
  'GET /v1/threads/:threadId/messages': { asks: 'view_thread', stranger: 'missing' },
  'POST /v1/threads/:threadId/messages': { asks: 'chat', stranger: 'missing', bodies: ({ messageId }) => [{ trigger: 'regenerate-message', messageId }, { trigger: 'regenerate-message' }, toolOutput(messageId)] },
  'GET /v1/threads/:threadId/messages/:messageId/siblings': { asks: 'view_thread', stranger: 'missing' },
  'DELETE /v1/threads/:threadId/messages/:messageId': { asks: 'manage_thread', stranger: 'missing' },
  'POST /v1/threads/:threadId/messages/:messageId/restore': { asks: 'manage_thread', stranger: 'missing' },
  'PUT /v1/threads/:threadId/messages/:messageId/rating': { asks: 'rate', stranger: 'missing', bodies: () => [{ rating: -1, comment: 'Taken' }] },
  'DELETE /v1/threads/:threadId/messages/:messageId/rating': { asks: 'rate', stranger: 'missing' },
  'GET /v1/threads/:threadId/stream': { asks: 'view_thread', stranger: 'idle' },
  'POST /v1/threads/:threadId/stop': { asks: 'chat', stranger: 'missing' },

  'POST /v1/threads/:threadId/files': { asks: 'upload', stranger: 'missing', bodies: () => [uploadBody('Taken')] },
  'GET /v1/threads/:threadId/files': { asks: 'view_file', stranger: 'missing' },
  'GET /v1/threads/:threadId/files/:fileId': { asks: 'view_file', stranger: 'missing' },
  'GET /v1/threads/:threadId/files/:fileId/content': { asks: 'view_file', stranger: 'missing' },
  'DELETE /v1/threads/:threadId/files/:fileId': { asks: 'manage_file', stranger: 'missing' },
  'POST /v1/threads/:threadId/files/:fileId/retry': { asks: 'manage_file', stranger: 'missing' },
  'POST /v1/threads/:threadId/files/:fileId/cancel': { asks: 'manage_file', stranger: 'missing' },
  'GET /v1/uploads/settings': { asks: undefined, stranger: 'own' },

  'GET /v1/threads/:threadId/approvals': { asks: 'view_thread', stranger: 'missing' },
  'GET /v1/threads/:threadId/artifacts': { asks: 'view_thread', stranger: 'missing' },
  'POST /v1/approvals/:approvalId': { asks: 'decide_approval', stranger: 'missing', bodies: () => [{ approved: true }, { approved: false, reason: 'Taken' }] },

  'GET /v1/runs/:runId': { asks: 'view_thread', stranger: 'missing' },
  'GET /v1/runs/:runId/events': { asks: 'view_thread', stranger: 'missing' },
  'POST /v1/runs/:runId/stop': { asks: 'chat', stranger: 'missing' },

  'POST /api/chat': { asks: 'chat', stranger: 'own', bodies: ({ threadId }) => [{ id: threadId, messages: [text('Hi')] }] },
  'GET /api/chat/:threadId/stream': { asks: 'view_thread', stranger: 'idle' }
}

/** A new thread of the caller's own under the id of another's, on routes that make threads. */
export const newThreadBodies = [{ text: 'Hi' }, { messages: [text('Hi')] }]
