import type { Sql } from '@prisma/client/runtime/client'
import pg from 'pg'
import type { Driver, Executor } from './executor.ts'

type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>
type Result = pg.QueryResult<Record<string, unknown>>

// A connection keeps its prepared statements for ever. Statements with many values have rows in a number that rarely repeats.
const maxNamed = 200
const maxNamedValues = 40

/**
 * Statements are prepared once a connection. In a transaction they travel without waiting for the answers of those
 * before them, where `work` does not wait either.
 */
export function createPostgresqlDriver (pool: pg.Pool, { onConnectionError }: { readonly onConnectionError: (error: Error) => void }): Driver {
  const names = new Map<string, string>()

  return {
    ...executorOn(pool),
    async transaction (work) {
      const client = await pool.connect()
      client.on('error', onConnectionError)
      let broken = false
      try {
        // Not waited for: where this fails, the connection does, and so does everything after it.
        const begun = client.query('BEGIN')
        begun.catch(() => {})
        const result = await work(executorOn(client))
        await begun
        await client.query('COMMIT')
        return result
      } catch (error) {
        broken = await client.query('ROLLBACK').then(() => false, () => true)
        throw error
      } finally {
        client.off('error', onConnectionError)
        client.release(broken)
      }
    }
  }

  function executorOn (queryable: Queryable): Executor {
    return {
      query: async <Row>(statement: Sql) => (await send(queryable, statement)).rows as Row[],
      execute: async (statement) => (await send(queryable, statement)).rowCount ?? 0
    }
  }

  function send (queryable: Queryable, { text, values }: Sql): Promise<Result> {
    const name = values.length > maxNamedValues ? undefined : nameOf(text)
    return queryable.query<Record<string, unknown>>({ text, values: values.map(toArgument), types, ...(name === undefined ? {} : { name }) })
  }

  function nameOf (text: string): string | undefined {
    const known = names.get(text)
    if (known !== undefined || names.size === maxNamed) return known
    const name = `parley_${names.size}`
    names.set(text, name)
    return name
  }
}

/** Columns of time have no zone, and hold UTC as Prisma writes it; pg alone would write the process's zone. */
function toArgument (value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace('T', ' ').replace('Z', '') : value
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => parsers[oid] ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser']
}
