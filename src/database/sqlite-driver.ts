import type { Sql } from '@prisma/client/runtime/client'
import type { Driver, Executor } from './executor.ts'
import { createGroupCommit } from './group-commit.ts'
import type { SqliteResult, SqliteStatement } from './sqlite-connection.ts'
import type { SqliteGate } from './sqlite-gate.ts'

/** Synchronous underneath: between two statements of a transaction nothing but microtasks runs. */
export function createSqliteDriver (gate: SqliteGate): Driver {
  const transaction = createGroupCommit(gate)
  return {
    ...executorOn(gate.execute),
    transaction: (work) => transaction((execute) => work(executorOn(execute)))
  }
}

function executorOn (run: (statement: SqliteStatement) => SqliteResult | Promise<SqliteResult>): Executor {
  return {
    query: async <Row>(statement: Sql) => toRows<Row>(await run(toStatement(statement))),
    execute: async (statement) => (await run(toStatement(statement))).rowsAffected
  }
}

function toStatement ({ sql, values }: Sql): SqliteStatement {
  return { sql, args: values.map(toArgument) }
}

/** Dates are written as Prisma's adapter writes them: they are compared as text. */
function toArgument (value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace('Z', '+00:00') : value
}

function toRows<Row> ({ columns, columnTypes, rows }: SqliteResult): Row[] {
  if (rows.length === 0) return []
  const converters = columnTypes.map((type) => converterOf[type.toUpperCase()])
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) {
      const value = values[index]
      const convert = value === null ? undefined : converters[index]
      row[columns[index]!] = convert === undefined ? value : convert(value) // index < columns.length
    }
    return row as Row
  })
}

/** By the declared type of a column; SQLite itself has neither dates nor booleans. */
const converterOf: Readonly<Record<string, ((value: unknown) => unknown) | undefined>> = {
  DATETIME: (value) => new Date(value as string | number),
  BOOLEAN: (value) => value !== 0
}
