import { chatReference } from '../reference/chat.ts'
import { threadParams } from '../schemas/fields.ts'
import { wireQuery } from '../schemas/wire.ts'
import { sendReply } from '../send-reply.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const threadStream: RoutePlugin = async (app) => {
  // 204 for idle, suspended, unknown and foreign threads alike.
  app.get('/threads/:threadId/stream', { schema: { ...chatReference.resume, params: threadParams, querystring: wireQuery } }, async (request, reply) => {
    const running = await app.chat.resume(request.principal, request.params.threadId)
    return running === undefined ? reply.code(204).send() : sendReply(reply, running, request.query)
  })

  app.post('/threads/:threadId/stop', { schema: { ...chatReference.stop, params: threadParams } }, async (request) =>
    ({ runId: await app.threads.stop(request.principal, request.params.threadId) ?? null }))
}

export default threadStream
