import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import { loggerOptions } from '../../src/logging.ts'

export interface LoggedEntry { readonly level: number, readonly msg: string, readonly [field: string]: unknown }

/** A service's own log, to be read by a test. */
export function loggedService (): { readonly lines: LoggedEntry[], readonly log: FastifyBaseLogger } {
  const lines: LoggedEntry[] = []
  return { lines, log: pino(loggerOptions({ logLevel: 'info' }), { write: (line: string) => { lines.push(JSON.parse(line)) } }) }
}
