/**
 * Passes `source` through and yields `beat` whenever it was silent for `everyMs`. The pending read is kept across
 * beats, so nothing is lost or reordered. Closes the source when its reader leaves.
 */
export async function * heartbeat<T> (source: AsyncIterable<T>, everyMs: number, beat: T): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const pending = iterator.next()
      let result = await settledWithin(pending, everyMs)
      while (result === undefined) {
        yield beat
        result = await settledWithin(pending, everyMs)
      }
      if (result.done === true) return
      yield result.value
    }
  } finally {
    // Not awaited: a source that waits for its upstream answers return() only after that wait, and its own signal ends it.
    void iterator.return?.()?.catch(() => {}) // its failure has nobody left to read it
  }
}

async function settledWithin<T> (pending: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => { timer = setTimeout(resolve, ms, undefined) })
  try {
    return await Promise.race([pending, timeout])
  } finally {
    clearTimeout(timer)
  }
}
