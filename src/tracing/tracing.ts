import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import type { RunObserver } from '../runtime/run-observer.ts'
import { createRunSpans, type RunSpansOptions } from './run-spans.ts'
import { callersContext } from './trace-context.ts'
import { openTracer, type TracerOptions } from './tracer.ts'

export interface RequestSpan {
  /** Does `work` so that the runs it begins belong to this request. */
  readonly within: (work: () => void) => void
  /** No status where the client left before it had one. */
  readonly end: (answer: { readonly status: number | undefined }) => void
}

export interface Tracing {
  readonly runs: RunObserver
  /** `route` is the pattern; nothing else of the address is kept, because queries hold what users search for. */
  readonly request: (request: { readonly method: string, readonly route: string, readonly traceparent: string | string[] | undefined }) => RequestSpan
  readonly close: () => Promise<void>
}

export interface TracingOptions extends TracerOptions, Pick<RunSpansOptions, 'content'> {}

/** Spans for requests and, below them, for what their runs do. */
export function createTracing (options: TracingOptions): Tracing {
  const { tracer, close } = openTracer(options)
  const active = new AsyncLocalStorage<Context>()

  return {
    close,
    runs: createRunSpans({ tracer, activeContext: () => active.getStore() ?? ROOT_CONTEXT, content: options.content }),
    request ({ method, route, traceparent }) {
      const parent = callersContext(traceparent)
      const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': route } }, parent)
      const context = trace.setSpan(parent, span)
      return {
        within: (work) => { active.run(context, work) },
        end ({ status }) {
          if (status !== undefined) span.setAttribute('http.response.status_code', status)
          if (status !== undefined && status >= 500) {
            span.setAttribute('error.type', String(status))
            span.setStatus({ code: SpanStatusCode.ERROR })
          }
          span.end()
        }
      }
    }
  }
}
