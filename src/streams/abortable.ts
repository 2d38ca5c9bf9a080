import { delay, untilAborted } from './abort.ts'

// How long whoever leaves a source waits for it to clean up.
const patienceMs = 25

/**
 * Passes `source` through until the signal aborts: then it throws the signal's reason at once, whatever the source waits
 * for. Closes the source in every case.
 */
export async function * abortable<T> (source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      signal.throwIfAborted()
      const result = await untilAborted(iterator.next(), signal)
      if (result.done === true) return
      yield result.value
    }
  } finally {
    await closeSoon(iterator)
  }
}

/** Closes an iterator and waits until it has, 25 ms at most: one that hangs answers only after its wait. Its failure has nobody left to read it. */
export async function closeSoon (iterator: Pick<AsyncIterator<unknown>, 'return'>): Promise<void> {
  const closed = iterator.return?.().catch(() => {})
  if (closed === undefined) return
  const patience = new AbortController()
  await Promise.race([closed, delay(patienceMs, patience.signal)])
  patience.abort()
}
