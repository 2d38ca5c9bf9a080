/** Routes that everybody may call. */
export const publicRoutes: readonly RegExp[] = [/^\/(health|ready|metrics|openapi\.json)$/, /^\/docs(\/|$)/, /^\/$/, /^\*$/]

/**
 * What a route does for somebody who uses ids of another: nothing by id (`own`: it has no ids, or takes another's as its
 * caller's own new one), the answer for ids that do not exist (`missing`), or that of a thread where nothing runs (`idle`).
 */
export interface RouteCase {
  readonly stranger: 'own' | 'missing' | 'idle'
  /** Bodies to try; `ids` are those of the other. */
  readonly bodies?: (ids: Ids) => readonly unknown[]
}

export interface Ids { readonly threadId: string, readonly messageId: string, readonly runId: string, readonly fileId: string, readonly approvalId: string }

const text = (word: string) => ({ role: 'user', parts: [{ type: 'text', text: word }] })
const toolOutput = (id: string) => ({ message: { id, role: 'assistant', parts: [{ type: 'tool-x', toolCallId: 'c1', state: 'output-available', output: 1 }] } })

/** A multipart body with one text file; its boundary is `bnd`. */
export function uploadBody (content: string): Buffer {
  return Buffer.from(`--bnd\r\ncontent-disposition: form-data; name="file"; filename="notes.txt"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n--bnd--\r\n`)
}

export const routeCases: Readonly<Record<string, RouteCase>> = {
  'GET /v1/agents': { stranger: 'own' },
  'GET /v1/agents/:agentId': { stranger: 'own' },
  'GET /v1/agents/:agentId/tools': { stranger: 'own' },
  'POST /v1/agents/:agentId/run': { stranger: 'own', bodies: ({ threadId }) => [{ input: 'Hi' }, { input: 'Hi', threadId }] },
  'POST /v1/agents/:agentId/ag-ui': {
    stranger: 'own',
    bodies: ({ threadId, runId, approvalId }) => {
      const body = { threadId, runId, messages: [{ id: 'm1', role: 'user', content: 'Hi' }], tools: [], context: [], state: {}, forwardedProps: {} }
      return [body, { ...body, resume: [{ interruptId: approvalId, status: 'cancelled' }] }]
    }
  },
  'GET /v1/models': { stranger: 'own' },
  'GET /v1/models/:model': { stranger: 'own' },
  'POST /v1/chat/completions': { stranger: 'own', bodies: () => [{ model: 'quick', messages: [{ role: 'user', content: 'Hi' }] }] },

  'POST /v1/threads': { stranger: 'own', bodies: ({ threadId }) => [{ id: threadId, tenantId: 'north', ownerId: 'ada', userId: 'ada' }] },
  'GET /v1/threads': { stranger: 'own' },
  'DELETE /v1/threads': { stranger: 'own' },
  'GET /v1/threads/:threadId': { stranger: 'missing' },
  'PATCH /v1/threads/:threadId': { stranger: 'missing', bodies: ({ messageId }) => [{ title: 'Taken' }, { archived: true }, { headId: messageId }] },
  'DELETE /v1/threads/:threadId': { stranger: 'missing' },
  'GET /v1/threads/:threadId/usage': { stranger: 'missing' },
  'GET /v1/threads/:threadId/messages': { stranger: 'missing' },
  'POST /v1/threads/:threadId/messages': { stranger: 'missing', bodies: ({ messageId }) => [{ trigger: 'regenerate-message', messageId }, { trigger: 'regenerate-message' }, toolOutput(messageId)] },
  'GET /v1/threads/:threadId/messages/:messageId/siblings': { stranger: 'missing' },
  'DELETE /v1/threads/:threadId/messages/:messageId': { stranger: 'missing' },
  'POST /v1/threads/:threadId/messages/:messageId/restore': { stranger: 'missing' },
  'PUT /v1/threads/:threadId/messages/:messageId/rating': { stranger: 'missing', bodies: () => [{ rating: -1, comment: 'Taken' }] },
  'DELETE /v1/threads/:threadId/messages/:messageId/rating': { stranger: 'missing' },
  'GET /v1/threads/:threadId/stream': { stranger: 'idle' },
  'POST /v1/threads/:threadId/stop': { stranger: 'missing' },

  'POST /v1/threads/:threadId/files': { stranger: 'missing', bodies: () => [uploadBody('Taken')] },
  'GET /v1/threads/:threadId/files': { stranger: 'missing' },
  'GET /v1/threads/:threadId/files/:fileId': { stranger: 'missing' },
  'GET /v1/threads/:threadId/files/:fileId/content': { stranger: 'missing' },
  'DELETE /v1/threads/:threadId/files/:fileId': { stranger: 'missing' },
  'POST /v1/threads/:threadId/files/:fileId/retry': { stranger: 'missing' },
  'POST /v1/threads/:threadId/files/:fileId/cancel': { stranger: 'missing' },
  'GET /v1/uploads/settings': { stranger: 'own' },

  'GET /v1/threads/:threadId/approvals': { stranger: 'missing' },
  'GET /v1/threads/:threadId/artifacts': { stranger: 'missing' },
  'POST /v1/approvals/:approvalId': { stranger: 'missing', bodies: () => [{ approved: true }, { approved: false, reason: 'Taken' }] },

  'GET /v1/runs/:runId': { stranger: 'missing' },
  'GET /v1/runs/:runId/events': { stranger: 'missing' },
  'POST /v1/runs/:runId/stop': { stranger: 'missing' },

  'POST /api/chat': { stranger: 'own', bodies: ({ threadId }) => [{ id: threadId, messages: [text('Hi')] }] },
  'GET /api/chat/:threadId/stream': { stranger: 'idle' }
}

/** A new thread of the caller's own under the id of another's, on routes that make threads. */
export const newThreadBodies = [{ text: 'Hi' }, { messages: [text('Hi')] }]
