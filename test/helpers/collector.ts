import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** 2 for an error. */
  readonly status: number
}

export interface Collector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Everything it was sent, as it came. */
  readonly bodies: readonly string[]
}

interface Sent { readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<{ readonly name: string, readonly traceId: string, readonly spanId: string, readonly parentSpanId?: string, readonly kind: number, readonly attributes: ReadonlyArray<{ readonly key: string, readonly value: Readonly<Record<string, unknown>> }>, readonly status: { readonly code?: number } }> }> }> }

/** A collector of traces that speaks OTLP in JSON; with `answer` it refuses them, or keeps them waiting. */
export async function startCollector (t: Test, answer: 'ok' | 'error' | 'silence' = 'ok'): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => { body += piece }).on('end', () => {
      if (request.url !== '/v1/traces') return response.writeHead(404).end()
      bodies.push(body)
      spans.push(...spansIn(JSON.parse(body) as Sent)) // what the exporter sends
      if (answer !== 'silence') response.writeHead(answer === 'ok' ? 200 : 500, { 'content-type': 'application/json' }).end('{}')
    })
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { spans, bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function spansIn ({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)).map(({ attributes, status, parentSpanId, ...span }) => ({
    ...span,
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    status: status.code ?? 0,
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
  }))
}

function valueOf (value: Readonly<Record<string, unknown>>): unknown {
  const [kind, inner] = Object.entries(value)[0] ?? []
  if (kind === 'intValue') return Number(inner)
  if (kind === 'arrayValue') return (inner as { values: Readonly<Record<string, unknown>>[] }).values.map(valueOf) // as OTLP has it
  return inner
}
