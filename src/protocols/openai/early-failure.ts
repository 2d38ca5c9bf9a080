import { AppError } from '../../errors.ts'
import type { RunEvent } from '../../events/run-event.ts'
import type { Batch, BatchStream } from '../../streams/batch.ts'

/**
 * Waits until a run has done more than begin. One that fails before that throws, and becomes a status that clients have
 * types for; any other is returned whole. The source is closed when `signal` aborts, also where nobody reads on.
 */
export async function refuseEarlyFailure (events: BatchStream<RunEvent>, signal: AbortSignal): Promise<BatchStream<RunEvent>> {
  const source = events[Symbol.asyncIterator]()
  const close = () => { void source.return?.() }
  signal.addEventListener('abort', close, { once: true })
  const held: Batch<RunEvent>[] = []
  for (;;) {
    const next = await source.next()
    if (next.done === true) break
    held.push(next.value)
    const sign = next.value.find(({ type }) => type !== 'message-start' && type !== 'step-start')
    if (sign?.type === 'run-failed' || sign?.type === 'run-interrupted') {
      close()
      throw new AppError(sign.code, sign.message)
    }
    if (sign !== undefined) break
  }
  return readOn()

  async function * readOn (): AsyncGenerator<Batch<RunEvent>, void> {
    try {
      yield * held
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value
    } finally {
      signal.removeEventListener('abort', close)
      await source.return?.()
    }
  }
}
