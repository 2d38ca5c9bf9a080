import fp from 'fastify-plugin'
import type { Config } from '../src/config.ts'
import type { RequestSpan, Tracing } from '../src/tracing/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined where no collector is configured. */
    tracing: Tracing | undefined
  }
  interface FastifyRequest {
    span: RequestSpan | undefined
  }
}

export type TracingPluginOptions = Pick<Config, 'otelExporterOtlpEndpoint' | 'otelServiceName' | 'otelInstrumentationGenaiCaptureMessageContent'>

// Asked for all the time by machines, and of no interest in a trace.
const untraced: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])

export default fp<TracingPluginOptions>(async (app, { otelExporterOtlpEndpoint: endpoint, otelServiceName: serviceName, otelInstrumentationGenaiCaptureMessageContent: captured }) => {
  if (endpoint === undefined) {
    app.decorate('tracing', undefined)
    return
  }
  // Loaded here, so that a service without a collector does not pay for it.
  const { createTracing } = await import('../src/tracing/tracing.ts')
  const tracing = createTracing({ endpoint, serviceName, content: captured ? 'captured' : 'left-out', log: app.log })
  app.decorate('tracing', tracing)
  app.decorateRequest('span', undefined)

  app.addHook('onRequest', async (request) => {
    const { method, headers: { traceparent }, routeOptions: { url: route = 'unknown' } } = request
    if (!untraced.has(route)) request.span = tracing.request({ method, route, traceparent })
  })
  // With a callback, and as late as can be: the handler runs inside it, and what reads a body leaves any earlier one.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === undefined) done()
    else request.span.within(done)
  })
  app.addHook('onResponse', async ({ span }, { statusCode }) => { span?.end({ status: statusCode }) })
  app.addHook('onClose', () => tracing.close())
}, { name: 'tracing' })
