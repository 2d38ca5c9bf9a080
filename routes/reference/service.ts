import { z } from 'zod'
import { describeOpen, json, text } from './describe.ts'

const status = (value: string) => ({ status: value })

export const healthReference = describeOpen({
  id: 'health', tag: 'Service', summary: 'Whether the process is alive',
  answers: { 200: json('It is', z.object({ status: z.literal('ok') }), status('ok')) }
})

export const readyReference = describeOpen({
  id: 'ready', tag: 'Service', summary: 'Whether new work should be sent here',
  answers: {
    200: json('It should', z.object({ status: z.literal('ready') }), status('ready')),
    503: json('It should not: the service is ending, or its database does not answer', z.object({ status: z.enum(['draining', 'storage_unavailable']) }), status('draining'))
  }
})

export const metricsReference = describeOpen({
  id: 'metrics', tag: 'Service', summary: 'Measurements, for Prometheus',
  answers: { 200: text('Counters, gauges and histograms in the text format', '# HELP parley_runs_running Runs of this process that are going on now\n# TYPE parley_runs_running gauge\nparley_runs_running 3\n') }
})

export const openapiReference = describeOpen({
  id: 'openapi', tag: 'Service', summary: 'This description',
  answers: { 200: json('An OpenAPI 3.1 document', z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }), { openapi: '3.1.0', info: { title: 'Parley', version: '1.0.0' }, paths: {} }) }
})
