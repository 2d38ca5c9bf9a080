import type { Budget } from '../agents/budget.ts'
import { addCost, roundUsd } from '../events/cost.ts'
import { addUsage, noUsage, type Usage } from '../events/usage.ts'

/** What a model call takes at least: known before it is made, since its input is. */
export interface CallEstimate {
  readonly tokens: number
  /** In US dollars; undefined where the model's price is not known. */
  readonly costUsd: number | undefined
}

export interface Spent {
  readonly usage: Usage
  /** In US dollars; undefined once the price of one call is not known. */
  readonly costUsd?: number | undefined
}

/** What is set aside for a call that is being made. */
export interface Reservation {
  /** Once the call is over, however it ended: what it took is booked by then. */
  readonly release: () => void
}

/**
 * What one agent of a run and everything below it have spent. The ledgers of a run are a tree: what is booked in one counts
 * in all above it, and a call is made only where the budget of each of them has room for it.
 */
export interface Ledger {
  readonly spent: () => Spent
  /** Counts what a call took, also one that failed or was stopped. */
  readonly book: (usage: Usage, costUsd: number | undefined) => void
  /** Whether a call of this size could be made now. */
  readonly allows: (call: CallEstimate) => boolean
  /**
   * Sets the estimate aside, so that calls made side by side do not count on the same rest of a budget. Undefined, with
   * nothing set aside, where the call is not allowed.
   */
  readonly reserve: (call: CallEstimate) => Reservation | undefined
  /**
   * The ledger of a member: its own budget binds it and what is below it, beside all budgets above. `spent` is what it had
   * spent when it was suspended, which those above know of already.
   */
  readonly below: (budget: Budget | undefined, spent?: Spent) => Ledger
}

/** What one agent may spend and has spent. */
interface Account {
  readonly maxTokens: number
  readonly maxCostUsd: number
  usage: Usage
  costUsd: number | undefined
  /** A budget in dollars binds by the calls whose price is known. */
  knownCostUsd: number
  asideTokens: number
  asideUsd: number
}

/** `spent`: before the run was suspended. */
export function createLedger (budget?: Budget, spent?: Spent): Ledger {
  return ledgerOf([createAccount(budget, spent)])
}

/** `chain`: the own account first, the root's last. */
function ledgerOf (chain: readonly [Account, ...Account[]]): Ledger {
  return {
    spent: () => ({ usage: chain[0].usage, costUsd: chain[0].costUsd }),
    book (usage, costUsd) {
      for (const account of chain) add(account, usage, costUsd)
    },
    allows: (call) => chain.every((account) => hasRoomFor(account, call)),
    reserve (call) {
      if (!chain.every((account) => hasRoomFor(account, call))) return undefined
      const { tokens, costUsd = 0 } = call
      for (const account of chain) setAside(account, tokens, costUsd)
      return { release: once(() => { for (const account of chain) setAside(account, -tokens, -costUsd) }) }
    },
    below: (budget, spent) => ledgerOf([createAccount(budget, spent), ...chain])
  }
}

function createAccount ({ tokens: maxTokens = Infinity, costUsd: maxCostUsd = Infinity }: Budget = {}, { usage, costUsd }: Spent = nothing): Account {
  return { maxTokens, maxCostUsd, usage, costUsd, knownCostUsd: costUsd ?? 0, asideTokens: 0, asideUsd: 0 }
}

function hasRoomFor ({ maxTokens, maxCostUsd, usage, knownCostUsd, asideTokens, asideUsd }: Account, { tokens, costUsd = 0 }: CallEstimate): boolean {
  return tokensOf(usage) + asideTokens + tokens <= maxTokens && roundUsd(knownCostUsd + asideUsd + costUsd) <= maxCostUsd
}

function add (account: Account, usage: Usage, costUsd: number | undefined): void {
  account.usage = addUsage(account.usage, usage)
  account.costUsd = addCost(account.costUsd, costUsd)
  account.knownCostUsd += costUsd ?? 0
}

/** Negative to give back. */
function setAside (account: Account, tokens: number, costUsd: number): void {
  account.asideTokens += tokens
  account.asideUsd += costUsd
}

const nothing: Spent = Object.freeze({ usage: noUsage, costUsd: 0 })

function tokensOf ({ input, output }: Usage): number {
  return input + output
}

function once (work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
