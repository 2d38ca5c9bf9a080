import { AppError } from '../../errors.ts'
import { isTerminal, type RunEvent } from '../../events/run-event.ts'
import type { BatchStream } from '../../streams/batch.ts'
import type { Protocol } from '../protocol.ts'
import { createSpokenText } from '../spoken-text.ts'

const headers = Object.freeze({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })

/** The answer's text and nothing else. It has no words for a failure, so a failure breaks the connection. */
export const textProtocol: Protocol = Object.freeze({ name: 'text', headers, encode: encodeText })

async function * encodeText (events: BatchStream<RunEvent>): AsyncGenerator<string, void> {
  // Nothing, but it sends the headers.
  yield ''
  const textOf = createSpokenText()
  for await (const batch of events) {
    const text = batch.map(textOf).join('')
    if (text !== '') yield text
    const end = batch.find(isTerminal)
    if (end?.type === 'run-failed' || end?.type === 'run-interrupted') throw new AppError(end.code, end.message)
    if (end !== undefined) return
  }
  throw new Error('The run ended without a terminal event')
}
