import { ROOT_CONTEXT, trace, type Context } from '@opentelemetry/api'

const traceparent = /^[0-9a-f]{2}-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?:-.*)?$/

/** The caller's place in a trace of its own, from the W3C header `traceparent`; the beginning of a new trace where that is none. */
export function callersContext (header: string | string[] | undefined): Context {
  const { traceId = '', spanId = '', flags = '' } = typeof header === 'string' ? traceparent.exec(header)?.groups ?? {} : {}
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  const forbidden = typeof header === 'string' && header.startsWith('ff-')
  return forbidden || !/[^0]/.test(traceId) || !/[^0]/.test(spanId) ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext)
}
