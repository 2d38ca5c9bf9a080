import { whenFree, type SqliteConnection, type SqliteResult, type SqliteStatement } from './sqlite-connection.ts'
import { createTurnstile } from './turnstile.ts'

/** Ended by its first commit or rollback, also where that throws; what comes after changes nothing. */
export interface SqliteTransaction {
  execute: (statement: SqliteStatement) => SqliteResult
  commit: () => void
  rollback: () => void
}

/** The way to a connection that several use: no statement of one falls into a transaction of another. */
export interface SqliteGate {
  /** A statement of its own. */
  execute: (statement: SqliteStatement) => Promise<SqliteResult>
  begin: () => Promise<SqliteTransaction>
}

export function createSqliteGate (connection: SqliteConnection): SqliteGate {
  const turnstile = createTurnstile()

  return {
    async execute (statement) {
      await turnstile.enter()
      try {
        return await whenFree(() => connection.execute(statement))
      } finally {
        turnstile.leave()
      }
    },
    async begin () {
      await turnstile.enter()
      try {
        await whenFree(connection.begin)
      } catch (error) {
        turnstile.leave()
        throw error
      }
      return openTransaction(connection, turnstile.leave)
    }
  }
}

function openTransaction (connection: SqliteConnection, leave: () => void): SqliteTransaction {
  let open = true

  function end (how: () => void): void {
    if (!open) return
    open = false
    try {
      how()
    } finally {
      // A commit that failed leaves the transaction open.
      if (connection.inTransaction) connection.rollback()
      leave()
    }
  }

  return {
    execute (statement) {
      if (!open) throw new Error('The transaction is over')
      return connection.execute(statement)
    },
    commit: () => { end(connection.commit) },
    rollback: () => { end(() => {}) }
  }
}
