import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface RequestEnd {
  /** The connection was gone before all of the answer had left. */
  readonly isCut: boolean
  /** Undefined where it was gone before there was an answer. */
  readonly status: number | undefined
}

/** Tells of the end of every request, once, however it comes: Fastify's own hook is not called for a client that leaves. */
export function onRequestEnd (app: FastifyInstance, tell: (request: FastifyRequest, reply: FastifyReply, end: RequestEnd) => void): void {
  app.addHook('onResponse', async (request, reply) => { tell(request, reply, { isCut: false, status: reply.statusCode }) })
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = reply
    raw.once('close', () => {
      if (!raw.writableFinished) tell(request, reply, { isCut: true, status: raw.headersSent ? reply.statusCode : undefined })
    })
  })
}
