import type { Sql } from '@prisma/client/runtime/client'
import type { Driver } from './executor.ts'
import type { Prisma, PrismaClient } from './generated/sqlite/client.ts'
import type { MigrationHost } from './migrator.ts'

export type Provider = 'sqlite' | 'postgresql'

/** The client of either database: both are generated from the same models. */
export type Client = PrismaClient
export type TransactionClient = Prisma.TransactionClient

/** What the databases say differently. */
export interface Dialect {
  /** Ends a SELECT whose rows of table `t` must not change before the transaction ends. */
  readonly lockThread: Sql
  /** Whether a text column contains a text: case-sensitive, nothing in it is a wildcard. */
  readonly contains: (column: Sql, text: string) => Sql
}

/** An open database below the stores. */
export interface Connection {
  readonly provider: Provider
  readonly client: Client
  readonly driver: Driver
  readonly dialect: Dialect
  readonly migrations: MigrationHost
  readonly close: () => Promise<void>
}

/** What a store works with. */
export type StoreContext = Pick<Connection, 'client' | 'driver' | 'dialect'>
