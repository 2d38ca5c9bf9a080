export interface RefreshedValue<T> {
  /** The value that is kept, or a new one. Rejects where there is none and none can be had. */
  get: () => Promise<T>
  /** The value that is kept may be outdated: the next `get` gives it once more and has a new one fetched. */
  outdate: () => void
}

export interface RefreshedValueOptions<T> {
  /** Never runs twice at a time. */
  readonly load: () => Promise<T>
  readonly keepMs: number
  /** Age from which on a new value is fetched while the old one is still given. */
  readonly refreshMs: number
  /** Milliseconds; only differences matter. */
  readonly now: () => number
  /** A value could not be fetched and the one that is kept went on being given. */
  readonly onRefreshFailure: (error: unknown) => void
}

/** A value that is slow to fetch: kept for a time, and renewed before that is over, so that hardly anybody waits for it. */
export function createRefreshedValue<T> ({ load, keepMs, refreshMs, now, onRefreshFailure }: RefreshedValueOptions<T>): RefreshedValue<T> {
  let kept: { readonly value: T, readonly at: number, readonly version: number } | undefined
  let loading: Promise<T> | undefined
  let version = 0

  return {
    async get () {
      if (kept === undefined || now() - kept.at >= keepMs) return await renewed()
      const { value } = kept
      if (kept.version !== version || now() - kept.at >= refreshMs) renewed().catch(onRefreshFailure)
      return value
    },
    outdate: () => { version++ }
  }

  function renewed (): Promise<T> {
    loading ??= fetched().finally(() => { loading = undefined })
    return loading
  }

  async function fetched (): Promise<T> {
    // What is outdated while it is on its way is so when it arrives.
    const asked = version
    const value = await load()
    kept = { value, at: now(), version: asked }
    return value
  }
}
