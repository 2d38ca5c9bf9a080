export interface CircuitBreaker {
  /** Leave to make one call, which must end in exactly one of the three; undefined while calls would most likely fail. */
  begin: () => BreakerCall | undefined
}

export interface BreakerCall {
  readonly succeeded: () => void
  readonly failed: () => void
  /** It ended for a reason that says nothing about the other side. */
  readonly abandoned: () => void
}

export interface CircuitBreakerOptions {
  /** Milliseconds; only differences matter. */
  readonly now: () => number
  readonly windowMs?: number
  /** Fewer calls than these prove nothing. */
  readonly leastCalls?: number
  /** Share of failures, 0 to 1, from which on no calls are made. */
  readonly failureShare?: number
  readonly cooldownMs?: number
}

type State =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open', readonly until: number }
  /** One call tries whether the other side is back. */
  | { readonly kind: 'trial' }

// Of a busy window its newest calls say enough.
const mostRemembered = 1_000

/**
 * Stops asking what does not answer: once half of at least 3 calls within 10 minutes have failed, none is let through
 * for 60 seconds; then a single one decides whether it goes on as before or waits again.
 */
export function createCircuitBreaker ({ now, windowMs = 600_000, leastCalls = 3, failureShare = 0.5, cooldownMs = 60_000 }: CircuitBreakerOptions): CircuitBreaker {
  let state: State = { kind: 'closed' }
  let ends: { readonly at: number, readonly ok: boolean }[] = []

  return { begin }

  function begin (): BreakerCall | undefined {
    if (state.kind === 'closed') return { succeeded: () => { note(true) }, failed: () => { note(false) }, abandoned: () => {} }
    if (state.kind === 'trial' || now() < state.until) return undefined
    const { until } = state
    state = { kind: 'trial' }
    return { succeeded: close, failed: open, abandoned: () => { state = { kind: 'open', until } } }
  }

  function note (ok: boolean): void {
    // A call from before says nothing about how it is since.
    if (state.kind !== 'closed') return
    ends = [...ends.filter(({ at }) => at > now() - windowMs).slice(1 - mostRemembered), { at: now(), ok }]
    const failures = ends.filter((end) => !end.ok).length
    if (ends.length >= leastCalls && failures / ends.length >= failureShare) open()
  }

  function open (): void {
    ends = []
    state = { kind: 'open', until: now() + cooldownMs }
  }

  function close (): void {
    state = { kind: 'closed' }
  }
}
