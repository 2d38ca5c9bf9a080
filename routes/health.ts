import { healthReference, readyReference } from './reference/service.ts'
import type { RoutePlugin } from './route-plugin.ts'

const health: RoutePlugin = async (app) => {
  app.get('/health', { schema: healthReference }, async () => ({ status: 'ok' }))

  app.get('/ready', { schema: readyReference }, async (request, reply) => {
    const status = await app.readiness()
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}

export default health
