import type { Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'

export interface TracerOptions {
  /** Of the collector; traces go to `/v1/traces` below it. */
  readonly endpoint: string
  readonly serviceName: string
  readonly log: { readonly warn: (fields: object, message: string) => void }
}

export interface OpenTracer {
  readonly tracer: Tracer
  /** Sends what is left, for a few seconds at most; it does not throw. */
  readonly close: () => Promise<void>
}

const patienceMs = 5_000

/** Spans are sent in batches beside the work; those that cannot be sent are dropped. Nothing is registered globally. */
export function openTracer ({ endpoint, serviceName, log }: TracerOptions): OpenTracer {
  const exporter = telling(new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: patienceMs }), log)
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000, exportTimeoutMillis: patienceMs })]
  })
  return {
    tracer: provider.getTracer('parley'),
    close: () => new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs)
      provider.shutdown()
        .catch((error: unknown) => { log.warn({ err: error }, 'the last traces could not be sent') })
        .finally(() => {
          clearTimeout(timer)
          resolve()
        })
    })
  }
}

/** Logs the first of failures in a row: a collector that is away is one fact, not one for each batch. */
function telling (exporter: SpanExporter, log: TracerOptions['log']): SpanExporter {
  let failing = false
  return {
    export (spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined && !failing) log.warn({ err: result.error }, 'traces cannot be sent; they are dropped until they can')
        failing = result.error !== undefined
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush!() }) // asked just before
  }
}
