import { Registry } from 'prom-client'
import type { RunObserver } from '../runtime/run-observer.ts'
import { createDatabaseMetrics, type TimeStores } from './database-metrics.ts'
import { createHttpMetrics, type HttpMetrics } from './http-metrics.ts'
import { watchProcess } from './process-metrics.ts'
import { createRunMetrics } from './run-metrics.ts'

export interface Metrics {
  readonly http: HttpMetrics
  readonly runs: RunObserver
  readonly timeStores: TimeStores
  /** Everything counted so far, as Prometheus reads it. */
  readonly render: () => Promise<string>
  readonly contentType: string
  readonly close: () => void
}

/** The measurements of one application, in a registry of its own. */
export function createMetrics (): Metrics {
  const registry = new Registry()
  const http = createHttpMetrics(registry)
  const runs = createRunMetrics(registry)
  const timeStores = createDatabaseMetrics(registry)
  const close = watchProcess(registry)
  return { http, runs, timeStores, close, contentType: registry.contentType, render: () => registry.metrics() }
}
