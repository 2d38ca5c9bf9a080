import { decodeChatRequest } from '../../src/protocols/ai-sdk/decode.ts'
import { decodeConversation, decodeTold } from '../../src/protocols/ai-sdk/decode-conversation.ts'
import { invalidRequest } from '../../src/errors.ts'
import { chatReference } from '../reference/chat.ts'
import { threadIdField, threadParams } from '../schemas/fields.ts'
import { wireQuery, type WireQuery } from '../schemas/wire.ts'
import { sendReply } from '../send-reply.ts'
import type { RoutePlugin } from '../route-plugin.ts'

/** The paths and bodies that useChat uses by default. */
const chat: RoutePlugin = async (app) => {
  // These paths are useChat's, so its wire is the default whatever an agent prefers elsewhere.
  const wire = ({ protocol = 'ai-sdk', profile }: WireQuery): WireQuery => ({ protocol, profile })

  app.post('/chat', { schema: { ...chatReference.useChat, querystring: wireQuery } }, async (request, reply) => {
    const { threadId, agentId, metadata, turn, messages } = decodeChatRequest(request.body)
    if (threadId === undefined) {
      const answer = await app.chat.takeStatelessTurn(request.principal, { agentId, metadata, messages: decodeConversation(messages, ['messages']) })
      return sendReply(reply, answer, wire(request.query))
    }
    assertThreadId(threadId)
    return sendReply(reply, await app.chat.takeTurn(request.principal, { threadId, agentId, metadata, request: turn, told: () => decodeTold(messages, turn), baseUrl: request.baseUrl() }), wire(request.query))
  })

  app.get('/chat/:threadId/stream', { schema: { ...chatReference.resumeUseChat, params: threadParams, querystring: wireQuery } }, async (request, reply) => {
    const running = await app.chat.resume(request.principal, request.params.threadId)
    return running === undefined ? reply.code(204).send() : sendReply(reply, running, wire(request.query))
  })
}

function assertThreadId (id: string): void {
  const result = threadIdField.safeParse(id)
  const message = result.error?.issues[0]?.message
  if (message !== undefined) throw invalidRequest(`id: ${message}`, [{ path: 'id', message }])
}

export default chat
