/**
 * Settles like `promise`, or rejects with the signal's reason as soon as it aborts, whichever is first. The promise is
 * not cancelled: what it does later is ignored.
 */
export async function untilAborted<T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {}) // ignored also where nobody waits any more: unhandled, it would end the process
  signal.throwIfAborted()
  let onAbort: () => void = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => { reject(signal.reason) }
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A promise of `ms` milliseconds that ends early, without error, when the signal aborts. */
export async function delay (ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
