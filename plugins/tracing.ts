import fp from 'fastify-plugin'
import type { FastifyBaseLogger } from 'fastify'
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

export default fp<TracingPluginOptions>(async (app, options) => {
  const tracing = await openTracing(options, app.log)
  app.decorate('tracing', tracing)
  if (tracing === undefined) return
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
  app.onRequestEnd(({ span }, _reply, { status }) => { span?.end({ status }) })
  app.addHook('onClose', () => tracing.close())
}, { name: 'tracing', dependencies: ['request-end'] })

/** Loads what it takes only where a collector is configured. */
async function openTracing ({ otelExporterOtlpEndpoint: endpoint, otelServiceName: serviceName, otelInstrumentationGenaiCaptureMessageContent: captured }: TracingPluginOptions, log: FastifyBaseLogger): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined
  // Not in the default export: TypeScript leaves the extension of an import there as it is.
  const { createTracing } = await import('../src/tracing/tracing.ts')
  return createTracing({ endpoint, serviceName, content: captured ? 'captured' : 'left-out', log })
}
