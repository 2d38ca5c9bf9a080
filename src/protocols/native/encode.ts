import { isTerminal, type RunEvent } from '../../events/run-event.ts'
import { sseHeaders, streamOpen } from '../sse.ts'
import type { Protocol } from '../protocol.ts'
import type { BatchStream } from '../../streams/batch.ts'

/** The events as they are: the superset of every other wire, resumable by `id`. */
export const nativeProtocol: Protocol = Object.freeze({ name: 'native', headers: sseHeaders, encode: encodeNative })

async function * encodeNative (events: BatchStream<RunEvent>): AsyncGenerator<string, void> {
  yield streamOpen
  for await (const batch of events) {
    let frames = ''
    for (const event of batch) frames += `event: ${event.type}\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`
    yield frames
    if (batch.some(isTerminal)) return
  }
}
