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

/** An account that knows those above it. */
interface Account {
  readonly spent: () => Spent
  readonly hasRoomFor: (call: CallEstimate) => boolean
  readonly add: (usage: Usage, costUsd: number | undefined) => void
  /** Negative to give back. */
  readonly setAside: (tokens: number, costUsd: number) => void
}

/** `spent`: before the run was suspended. */
export function createLedger (budget?: Budget, spent?: Spent): Ledger {
  return ledgerOf([createAccount(budget, spent)])
}

/** `chain`: the own account first, the root's last. */
function ledgerOf (chain: readonly [Account, ...Account[]]): Ledger {
  const allows = (call: CallEstimate) => chain.every((account) => account.hasRoomFor(call))

  return {
    spent: chain[0].spent,
    book (usage, costUsd) {
      for (const account of chain) account.add(usage, costUsd)
    },
    allows,
    reserve (call) {
      if (!allows(call)) return undefined
      const { tokens, costUsd = 0 } = call
      for (const account of chain) account.setAside(tokens, costUsd)
      return { release: once(() => { for (const account of chain) account.setAside(-tokens, -costUsd) }) }
    },
    below: (budget, spent) => ledgerOf([createAccount(budget, spent), ...chain])
  }
}

function createAccount ({ tokens: maxTokens = Infinity, costUsd: maxCostUsd = Infinity }: Budget = {}, before: Spent = nothing): Account {
  let { usage, costUsd } = before
  // A budget in dollars binds by the calls whose price is known.
  let knownCostUsd = costUsd ?? 0
  const aside = { tokens: 0, costUsd: 0 }

  return {
    spent: () => ({ usage, costUsd }),
    hasRoomFor: (call) =>
      tokensOf(usage) + aside.tokens + call.tokens <= maxTokens &&
      roundUsd(knownCostUsd + aside.costUsd + (call.costUsd ?? 0)) <= maxCostUsd,
    add (more, cost) {
      usage = addUsage(usage, more)
      costUsd = addCost(costUsd, cost)
      knownCostUsd += cost ?? 0
    },
    setAside (tokens, cost) {
      aside.tokens += tokens
      aside.costUsd += cost
    }
  }
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
