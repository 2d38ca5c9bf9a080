import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

const resolutionMs = 20
const quantiles = [0.5, 0.99] as const

/**
 * What the process takes, read when it is asked for. Not prom-client's own collection: that cannot be ended, and every
 * application that was closed would go on being watched. Returns what ends it.
 */
export function watchProcess (registry: Registry): () => void {
  const registers: Registry[] = []
  registry.registerMetric(new Counter({
    name: 'process_cpu_seconds_total', help: 'Processor time the process has taken', labelNames: ['mode'], registers,
    collect () {
      // A sum that the process itself keeps.
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc({ mode: 'user' }, user / 1e6)
      this.inc({ mode: 'system' }, system / 1e6)
    }
  }))
  gauge('process_resident_memory_bytes', 'Memory the process holds', () => process.memoryUsage.rss())
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', () => performance.timeOrigin / 1000)
  gauge('nodejs_heap_used_bytes', 'Memory in use for JavaScript', () => process.memoryUsage().heapUsed)
  gauge('nodejs_external_memory_bytes', 'Memory of buffers and native objects', () => process.memoryUsage().external)
  return watchEventLoop(registry)

  function gauge (name: string, help: string, read: () => number): void {
    registry.registerMetric(new Gauge({ name, help, registers, collect () { this.set(read()) } }))
  }
}

function watchEventLoop (registry: Registry): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  registry.registerMetric(new Gauge({
    name: 'parley_event_loop_lag_seconds', help: 'How late timers fired since the last time this was read', labelNames: ['quantile'], registers: [],
    collect () {
      const lateness = (nanoseconds: number) => Math.max(0, (nanoseconds || 0) / 1e9 - resolutionMs / 1000)
      for (const quantile of quantiles) this.set({ quantile }, lateness(delays.percentile(quantile * 100)))
      this.set({ quantile: 1 }, lateness(delays.count === 0 ? 0 : delays.max))
      delays.reset()
    }
  }))
  return () => { delays.disable() }
}
