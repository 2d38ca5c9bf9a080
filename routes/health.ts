import type { RoutePlugin } from './route-plugin.ts'

const health: RoutePlugin = async (app) => {
  app.get('/health', async () => ({ status: 'ok' }))

  app.get('/ready', async (request, reply) => {
    const status = await app.readiness()
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}

export default health
