import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface HttpMetrics {
  /** `route` is the pattern, never the path: a path holds ids. */
  readonly answered: (request: { readonly method: string, readonly route: string, readonly status: number, readonly seconds: number }) => void
  /** Counts one stream until what it returns is called. */
  readonly streamOpened: () => () => void
}

export function createHttpMetrics (registry: Registry): HttpMetrics {
  const registers = [registry]
  const requests = new Counter({ name: 'parley_http_requests_total', help: 'HTTP requests answered, by method, route and status', labelNames: ['method', 'route', 'status'], registers })
  const duration = new Histogram({
    name: 'parley_http_request_duration_seconds', help: 'Time from a request to the end of its answer, streams included', labelNames: ['method', 'route'], registers,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
  })
  const streams = new Gauge({ name: 'parley_open_streams', help: 'Answers that are being streamed now', registers })

  return {
    answered ({ method, route, status, seconds }) {
      requests.inc({ method, route, status })
      duration.observe({ method, route }, seconds)
    },
    streamOpened () {
      let open = true
      streams.inc()
      return () => {
        if (open) streams.dec()
        open = false
      }
    }
  }
}
