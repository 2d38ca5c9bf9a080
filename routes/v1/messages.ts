import { z } from 'zod'
import { decodeChatRequest } from '../../src/protocols/ai-sdk/decode.ts'
import { decodeTold } from '../../src/protocols/ai-sdk/decode-conversation.ts'
import { toUIMessage } from '../../src/protocols/ai-sdk/messages.ts'
import { pageView } from '../../src/threads/thread-view.ts'
import { chatReference } from '../reference/chat.ts'
import { messageReference } from '../reference/messages.ts'
import { limitField, messageParams, pageQuery, text, threadIdField, threadParams } from '../schemas/fields.ts'
import { wireQuery } from '../schemas/wire.ts'
import { sendReply } from '../send-reply.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const historyQuery = z.object({ limit: limitField, before: text.optional(), include: z.enum(['streaming']).optional() })
const rating = z.object({ rating: z.union([z.literal(1), z.literal(-1)], 'expected 1 or -1'), comment: text.max(2_000).optional() })

const messages: RoutePlugin = async (app) => {
  app.get('/threads/:threadId/messages', { schema: { ...messageReference.history, params: threadParams, querystring: historyQuery } }, async (request) => {
    const { params: { threadId }, query: { limit, before, include } } = request
    const page = await app.threads.history(request.principal, threadId, { limit, before, includeStreaming: include === 'streaming' })
    const shown = { threadId, baseUrl: request.baseUrl() }
    return pageView(page, (message) => toUIMessage(message, shown))
  })

  app.post('/threads/:threadId/messages', { schema: { ...chatReference.send, params: z.object({ threadId: threadIdField }), querystring: wireQuery } }, async (request, reply) => {
    const { agentId, metadata, turn, messages } = decodeChatRequest(request.body)
    const answer = await app.chat.takeTurn(request.principal, { threadId: request.params.threadId, agentId, metadata, request: turn, told: () => decodeTold(messages, turn), baseUrl: request.baseUrl() })
    return sendReply(reply, answer, request.query)
  })

  app.get('/threads/:threadId/messages/:messageId/siblings', { schema: { ...messageReference.siblings, params: messageParams, querystring: pageQuery } }, async (request) => {
    const { params: { threadId, messageId }, query } = request
    return pageView(await app.threads.siblings(request.principal, threadId, messageId, query), (message) => toUIMessage(message, { threadId, baseUrl: request.baseUrl() }))
  })

  app.delete('/threads/:threadId/messages/:messageId', { schema: { ...messageReference.remove, params: messageParams } }, async (request, reply) => {
    await app.threads.removeMessage(request.principal, request.params.threadId, request.params.messageId)
    return reply.code(204).send()
  })

  app.post('/threads/:threadId/messages/:messageId/restore', { schema: { ...messageReference.restore, params: messageParams } }, async (request) => {
    const { threadId, messageId } = request.params
    return toUIMessage(await app.threads.restoreMessage(request.principal, threadId, messageId), { threadId, baseUrl: request.baseUrl() })
  })

  app.put('/threads/:threadId/messages/:messageId/rating', { schema: { ...messageReference.rate, params: messageParams, body: rating } }, async (request) => {
    const { params: { threadId, messageId }, body: { rating, comment } } = request
    await app.threads.rate(request.principal, threadId, messageId, { rating, ...(comment === undefined ? {} : { comment }) })
    return { messageId, rating, comment: comment ?? null }
  })

  app.delete('/threads/:threadId/messages/:messageId/rating', { schema: { ...messageReference.unrate, params: messageParams } }, async (request, reply) => {
    await app.threads.unrate(request.principal, request.params.threadId, request.params.messageId)
    return reply.code(204).send()
  })
}

export default messages
