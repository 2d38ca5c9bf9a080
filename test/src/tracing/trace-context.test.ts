import { trace } from '@opentelemetry/api'
import t from 'tap'
import { callersContext } from '../../../src/tracing/trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

t.test('a caller\'s traceparent is the place spans are put below', async (t) => {
  t.match(spanContext(`00-${traceId}-${spanId}-01`), { traceId, spanId, traceFlags: 1, isRemote: true })
  t.match(spanContext(`00-${traceId}-${spanId}-00`), { traceFlags: 0 }, 'what the caller does not sample is not sampled')
  t.match(spanContext(`cc-${traceId}-${spanId}-01-more`), { traceId, spanId }, 'a later version may say more')
})

t.test('what is no traceparent begins a trace', async (t) => {
  const zero = '0'.repeat(32)
  for (const header of [undefined, '', 'nonsense', [`00-${traceId}-${spanId}-01`], `ff-${traceId}-${spanId}-01`, `00-${zero}-${spanId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`, `00-${traceId.toUpperCase()}-${spanId}-01`, `00-${traceId}-${spanId}`]) {
    t.equal(spanContext(header), undefined, String(header))
  }
})

function spanContext (header: string | string[] | undefined) {
  return trace.getSpanContext(callersContext(header))
}
