import fp from 'fastify-plugin'

/** One line a request, when its response is complete or its connection gone; a stream's says which run it showed. */
export default fp(async (app) => {
  app.onRequestEnd((request, reply, { isCut, status: statusCode }) => {
    const { method, url, ip } = request
    const runId = reply.getHeader('x-run-id')
    const threadId = reply.getHeader('x-thread-id')
    request.log.info({ method, url, statusCode, responseTime: Math.round(reply.elapsedTime), ip, runId, threadId }, isCut ? 'request cut short' : 'request completed')
  })
}, { name: 'request-log', dependencies: ['request-end'] })
