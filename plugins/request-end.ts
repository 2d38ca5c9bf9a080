import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Has the end of every request told, once, however it comes. */
    onRequestEnd: (tell: TellRequestEnd) => void
  }
}

export interface RequestEnd {
  /** The connection was gone before all of the answer had left. */
  readonly isCut: boolean
  /** Undefined where it was gone before there was an answer. */
  readonly status: number | undefined
}

type TellRequestEnd = (request: FastifyRequest, reply: FastifyReply, end: RequestEnd) => void

/** Fastify's own hook is not called for a client that leaves. One listener for all who want to know. */
export default fp(async (app) => {
  const tellers: TellRequestEnd[] = []
  const tellAll: TellRequestEnd = (...told) => { for (const tell of tellers) tell(...told) }
  app.decorate('onRequestEnd', (tell) => { tellers.push(tell) })
  app.addHook('onResponse', async (request, reply) => { tellAll(request, reply, { isCut: false, status: reply.statusCode }) })
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = reply
    raw.once('close', () => {
      if (!raw.writableFinished) tellAll(request, reply, { isCut: true, status: raw.headersSent ? reply.statusCode : undefined })
    })
  })
}, { name: 'request-end' })
