import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** One line a request, when its response is complete or its connection gone; a stream's says which run it showed. */
export default fp(async (app) => {
  app.addHook('onResponse', async (request, reply) => { writeLine(request, reply, 'request completed') })
  // That hook is not called for a client that leaves.
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) writeLine(request, reply, 'request cut short')
    })
  })
}, { name: 'request-log' })

function writeLine (request: FastifyRequest, reply: FastifyReply, message: string): void {
  const { method, url, ip } = request
  const runId = reply.getHeader('x-run-id')
  const threadId = reply.getHeader('x-thread-id')
  request.log.info({ method, url, statusCode: reply.statusCode, responseTime: Math.round(reply.elapsedTime), ip, runId, threadId }, message)
}
