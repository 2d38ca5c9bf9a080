import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** `cut` when the connection was gone before all of the answer had left. */
export type RequestEnd = 'complete' | 'cut'

/** Tells of the end of every request, once, however it comes: Fastify's own hook is not called for a client that leaves. */
export function onRequestEnd (app: FastifyInstance, tell: (request: FastifyRequest, reply: FastifyReply, end: RequestEnd) => void): void {
  app.addHook('onResponse', async (request, reply) => { tell(request, reply, 'complete') })
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) tell(request, reply, 'cut')
    })
  })
}
