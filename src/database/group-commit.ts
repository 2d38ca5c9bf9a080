import type { SqliteResult, SqliteStatement } from './sqlite-connection.ts'
import type { SqliteGate, SqliteTransaction } from './sqlite-gate.ts'

type Execute = (statement: SqliteStatement) => SqliteResult

interface Job {
  readonly work: (execute: Execute) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How a job went, told once its group is committed. */
type Outcome = { readonly job: Job } & ({ readonly ok: true, readonly result: unknown } | { readonly ok: false, readonly error: unknown })

const savepoint = { sql: 'SAVEPOINT job', args: [] }
const release = { sql: 'RELEASE job', args: [] }
const undo = { sql: 'ROLLBACK TO job', args: [] }

/**
 * Does the work of transactions that begin in one turn of the event loop under one commit, which costs more than their
 * statements. Each is a savepoint: one that throws undoes itself alone. Nobody is told of success before the commit,
 * and nothing else comes between, so that what fails with the commit was seen by none but those who fail with it.
 */
export function createGroupCommit (gate: SqliteGate): <R>(work: (execute: Execute) => Promise<R>) => Promise<R> {
  let waiting: Job[] = []

  return (work) => new Promise((resolve, reject) => {
    // The result is the work's own, so it is of the type that is awaited.
    waiting.push({ work, resolve: resolve as Job['resolve'], reject })
    if (waiting.length === 1) setImmediate(next)
  })

  function next (): void {
    const group = waiting
    waiting = []
    void commit(gate, group)
  }
}

/** Never rejects: each job is told. */
async function commit (gate: SqliteGate, group: readonly Job[]): Promise<void> {
  let transaction: SqliteTransaction | undefined
  try {
    transaction = await gate.begin()
    const outcomes: Outcome[] = []
    for (const job of group) outcomes.push(group.length === 1 ? await alone(transaction, job) : await among(transaction, job))
    transaction.commit()
    for (const outcome of outcomes) tell(outcome)
  } catch (error) {
    for (const job of group) job.reject(error)
    try {
      transaction?.rollback()
    } catch {
      // Why the group failed is told already; a connection that cannot even undo says so to whoever comes next.
    }
  }
}

/** With nobody beside it, what undoes the transaction undoes the job. */
async function alone ({ execute }: SqliteTransaction, job: Job): Promise<Outcome> {
  return { job, ok: true, result: await job.work(execute) }
}

async function among ({ execute }: SqliteTransaction, job: Job): Promise<Outcome> {
  execute(savepoint)
  try {
    const result = await job.work(execute)
    execute(release)
    return { job, ok: true, result }
  } catch (error) {
    undoOne(execute, error)
    return { job, ok: false, error }
  }
}

/** Throws what went wrong where SQLite has undone everything by itself: the group ends with it. */
function undoOne (execute: Execute, reason: unknown): void {
  try {
    execute(undo)
    execute(release)
  } catch {
    throw reason
  }
}

function tell (outcome: Outcome): void {
  if (outcome.ok) outcome.job.resolve(outcome.result)
  else outcome.job.reject(outcome.error)
}
