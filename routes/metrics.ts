import { metricsReference } from './reference/service.ts'
import type { RoutePlugin } from './route-plugin.ts'

const metrics: RoutePlugin = async (app) => {
  app.get('/metrics', { schema: metricsReference }, async (_request, reply) => reply.type(app.metrics.contentType).send(await app.metrics.render()))
}

export default metrics
