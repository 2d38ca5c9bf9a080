/**
 * Summaries by what they sum up. A conversation that is too long is shortened anew on every turn, since what is stored
 * stays whole; with this, only what has come to it is read again by a model.
 */
export interface SummaryCache {
  readonly get: (key: string) => string | undefined
  readonly set: (key: string, summary: string) => void
}

/** In this process; the least recently used one goes first. */
export function createSummaryCache (maxEntries = 500): SummaryCache {
  const summaries = new Map<string, string>()

  return {
    get (key) {
      const summary = summaries.get(key)
      if (summary !== undefined) set(key, summary)
      return summary
    },
    set
  }

  /** A Map keeps the order of its insertions. */
  function set (key: string, summary: string): void {
    summaries.delete(key)
    summaries.set(key, summary)
    const oldest = summaries.keys().next()
    if (summaries.size > maxEntries && oldest.done !== true) summaries.delete(oldest.value)
  }
}
