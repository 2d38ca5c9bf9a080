import type { RoutePlugin } from './route-plugin.ts'

const metrics: RoutePlugin = async (app) => {
  app.get('/metrics', async (request, reply) => reply.type(app.metrics.contentType).send(await app.metrics.render()))
}

export default metrics
