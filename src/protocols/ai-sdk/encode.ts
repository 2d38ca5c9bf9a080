import { isTerminal, type RunEvent } from '../../events/run-event.ts'
import { done, sseHeaders, streamOpen } from '../sse.ts'
import { createFrameWriter } from './frames.ts'
import type { EncodeOptions, Protocol } from '../protocol.ts'
import type { BatchStream } from '../../streams/batch.ts'

const headers = Object.freeze({ ...sseHeaders, 'x-vercel-ai-ui-message-stream': 'v1' })

/** The UI message stream, version 1: what useChat of ai 5, 6 and 7 understands. */
export const aiSdkProtocol: Protocol = Object.freeze({ name: 'ai-sdk', headers, encode: encodeAiSdk })

async function * encodeAiSdk (events: BatchStream<RunEvent>, options: EncodeOptions = {}): AsyncGenerator<string, void> {
  yield streamOpen
  const framesOf = createFrameWriter(options)
  for await (const batch of events) {
    let frames = ''
    let ended = false
    for (const event of batch) {
      frames += framesOf(event)
      if (isTerminal(event)) ended = true
    }
    if (ended) frames += done
    if (frames !== '') yield frames
    if (ended) return
  }
  // A clean close here would look like a finished answer.
  throw new Error('The run ended without a terminal event')
}
