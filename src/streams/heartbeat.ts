/**
 * Passes `source` through and yields `beat` whenever it was silent for `everyMs`. The pending read is kept across
 * beats, so nothing is lost or reordered. Closes the source when its reader leaves.
 */
export async function * heartbeat<T> (source: AsyncIterable<T>, everyMs: number, beat: T): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]()
  let onSilence = () => {}
  // One for the whole stream, put back at every read: a timer of its own would cost more than the item it waits for.
  const timer = setTimeout(() => { onSilence() }, everyMs)
  try {
    for (;;) {
      const pending = iterator.next()
      let result = await orSilence(pending)
      while (result === undefined) {
        yield beat
        result = await orSilence(pending)
      }
      if (result.done === true) return
      yield result.value
    }
  } finally {
    clearTimeout(timer)
    // Not awaited: a source that waits for its upstream answers return() only after that wait, and its own signal ends it.
    void iterator.return?.()?.catch(() => {}) // its failure has nobody left to read it
  }

  function orSilence<R> (pending: Promise<R>): Promise<R | undefined> {
    timer.refresh()
    return new Promise<R | undefined>((resolve, reject) => {
      onSilence = () => { resolve(undefined) }
      pending.then(resolve, reject)
    })
  }
}
