import fp from 'fastify-plugin'
import { createMetrics, type Metrics } from '../src/metrics/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
}

// One name for all of them: whoever tries paths would make a series of each.
const unknownRoute = 'unknown'

export default fp(async (app) => {
  const metrics = createMetrics()
  app.decorate('metrics', metrics)
  app.onRequestEnd(({ method, routeOptions }, { elapsedTime }, { status }) => {
    if (status !== undefined) metrics.http.answered({ method, route: routeOptions.url ?? unknownRoute, status, seconds: elapsedTime / 1000 })
  })
  app.addHook('onClose', async () => { metrics.close() })
}, { name: 'metrics', dependencies: ['request-end'] })
