import fp from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** One line a request, when its response is complete or its connection gone; a stream's says which run it showed. */
export default fp(async (app) => {
  // Not onResponse: that hook is not called for a client that leaves.
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => { writeLine(request, reply) })
  })
}, { name: 'request-log' })

function writeLine (request: FastifyRequest, reply: FastifyReply): void {
  const { method, url, ip } = request
  const runId = reply.getHeader('x-run-id')
  const threadId = reply.getHeader('x-thread-id')
  const fields = { method, url, statusCode: reply.statusCode, responseTime: Math.round(reply.elapsedTime), ip, runId, threadId }
  request.log.info(fields, reply.raw.writableFinished ? 'request completed' : 'request cut short')
}
