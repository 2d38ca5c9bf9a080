/**
 * Runs `work` with a signal that aborts with this one while the work is on, and never afterwards: the client of the
 * protocol keeps listening to a signal, and cancels what was answered long ago. It also sends the reason to the server,
 * so ours stays here.
 */
export async function withLinkedSignal<T> (signal: AbortSignal, work: (linked: AbortSignal) => Promise<T>): Promise<T> {
  const linked = new AbortController()
  const abort = () => { linked.abort('No longer needed') }
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await work(linked.signal)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
