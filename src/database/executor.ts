import type { Sql } from '@prisma/client/runtime/client'

/**
 * Statements on the driver itself, for what every turn does: Prisma costs several times as much. Columns come as Prisma
 * has them (dates as Date, booleans as boolean) and whole numbers as number. Failures are the driver's own errors.
 */
export interface Executor {
  query: <Row>(statement: Sql) => Promise<Row[]>
  /** The number of rows it changed. */
  execute: (statement: Sql) => Promise<number>
}

export interface Driver extends Executor {
  /**
   * All or nothing: what `work` throws undoes it. Only the executor given to `work` belongs to the transaction; waiting
   * in it for a statement of anyone else would be waiting for ever.
   */
  transaction: <R>(work: (tx: Executor) => Promise<R>) => Promise<R>
}
