import { isTerminal, type RunEvent } from '../../events/run-event.ts'
import type { BatchStream } from '../../streams/batch.ts'
import { sseHeaders, streamOpen } from '../sse.ts'
import type { Protocol } from '../protocol.ts'
import { createFrameWriter, type AgUiOptions } from './frames.ts'

/** The events of the AG-UI protocol, as its clients 0.0.59 and 1.0.0 read them. */
export const agUiProtocol: Protocol = Object.freeze({ name: 'ag-ui', headers: sseHeaders, encode: encodeAgUi })

/** A run as AG-UI events. The last is RUN_FINISHED or RUN_ERROR; there is no other mark of the end. */
export async function * encodeAgUi (events: BatchStream<RunEvent>, options: AgUiOptions = {}): AsyncGenerator<string, void> {
  yield streamOpen
  const framesOf = createFrameWriter(options)
  for await (const batch of events) {
    const frames = batch.map(framesOf).join('')
    if (frames !== '') yield frames
    if (batch.some(isTerminal)) return
  }
  // A clean close here would look like a finished answer.
  throw new Error('The run ended without a terminal event')
}
