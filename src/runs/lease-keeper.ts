import type { RunLogger } from '../runtime/log.ts'
import type { Recovery } from './recovery.ts'
import type { TurnStore } from './turn-store.ts'

/** How long a run is safe from recovery after its process was last heard of. */
export const leaseMs = 30_000
const renewEveryMs = 10_000
const sweepEveryMs = 15_000

export function leaseUntil (now = Date.now()): Date {
  return new Date(now + leaseMs)
}

export interface LeaseKeeperOptions {
  readonly turns: TurnStore
  readonly recovery: Recovery
  readonly holder: string
  readonly log: RunLogger
  /** Denies what nobody decided in time. */
  readonly expireApprovals: () => Promise<unknown>
}

/** Renews this process's leases and looks for runs whose process is gone, until it is closed. */
export function keepLeases ({ turns, recovery, holder, log, expireApprovals }: LeaseKeeperOptions): { close: () => void } {
  const timers = [
    setInterval(() => { attempt('renewing leases failed', () => turns.renewLeases(holder, leaseUntil())) }, renewEveryMs),
    setInterval(() => { attempt('the recovery sweep failed', () => recovery.sweep()) }, sweepEveryMs),
    setInterval(() => { attempt('expiring approvals failed', expireApprovals) }, sweepEveryMs)
  ]
  for (const timer of timers) timer.unref()
  return { close: () => { timers.forEach(clearInterval) } }

  function attempt (failure: string, work: () => Promise<unknown>): void {
    work().catch((error: unknown) => { log.warn({ err: error }, failure) })
  }
}
