import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { TerminalEvent } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { RunObserver } from '../runtime/run-observer.ts'

const states: Readonly<Record<TerminalEvent['type'], string>> = {
  'run-completed': 'completed',
  'run-suspended': 'suspended',
  'run-stopped': 'stopped',
  'run-failed': 'failed',
  'run-interrupted': 'interrupted'
}

/** Counts what runs do. Labels are names of the configuration and of states, so that their number stays small. */
export function createRunMetrics (registry: Registry): RunObserver {
  const registers = [registry]
  const runs = new Counter({ name: 'parley_runs_total', help: 'Runs by the state they reached; each is started once and ends in one other', labelNames: ['state'], registers })
  const running = new Gauge({ name: 'parley_runs_running', help: 'Runs of this process that are going on now', registers })
  const failures = new Counter({ name: 'parley_run_failures_total', help: 'Runs that failed or were interrupted, by error code', labelNames: ['code'], registers })
  const calls = new Counter({ name: 'parley_model_calls_total', help: 'Calls of models, by model and outcome', labelNames: ['model', 'outcome'], registers })
  const tokens = new Counter({ name: 'parley_tokens_total', help: 'Tokens of model calls by model and kind; input includes cached ones, output includes reasoning', labelNames: ['model', 'kind'], registers })
  const cost = new Counter({ name: 'parley_cost_usd_total', help: 'What model calls cost in US dollars, by model, where its price is known', labelNames: ['model'], registers })
  const tools = new Counter({ name: 'parley_tool_calls_total', help: 'Tool calls that were run, by tool and outcome', labelNames: ['tool', 'outcome'], registers })
  const firstToken = new Histogram({
    name: 'parley_time_to_first_token_seconds', help: 'Time from asking a model to the first of its answer, retries included', labelNames: ['model'], registers,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
  })
  // There from the first scrape on: a rate over a series that begins at 1 misses its first.
  for (const state of ['started', ...Object.values(states)]) runs.inc({ state }, 0)

  return {
    run () {
      runs.inc({ state: 'started' })
      running.inc()
      return (end) => {
        running.dec()
        runs.inc({ state: states[end.type] })
        if (end.type === 'run-failed' || end.type === 'run-interrupted') failures.inc({ code: end.code })
      }
    },
    modelCall ({ model }) {
      const begun = performance.now()
      return {
        firstOutput: () => { firstToken.observe({ model }, (performance.now() - begun) / 1000) },
        end (end) {
          calls.inc({ model, outcome: end.ok ? 'ok' : 'failed' })
          if (end.usage !== undefined) countTokens(model, end.usage)
          if (end.costUsd !== undefined && end.costUsd > 0) cost.inc({ model }, end.costUsd)
        }
      }
    },
    toolCall ({ toolName: tool }) {
      return (end) => { tools.inc({ tool, outcome: end.ok ? 'ok' : 'failed' }) }
    }
  }

  function countTokens (model: string, { input, output, reasoning, cachedRead, cacheWrite }: Usage): void {
    for (const [kind, count] of Object.entries({ input, output, reasoning, cached_read: cachedRead, cache_write: cacheWrite })) if (count > 0) tokens.inc({ model, kind }, count)
  }
}
