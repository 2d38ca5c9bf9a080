import { setTimeout as delay } from 'node:timers/promises'
import { AppError, invalidRequest, isAppError, storageUnavailable } from '../errors.ts'
import { codeOf, driverFailure, type UniqueConstraint } from './driver-failure.ts'

/** A write that another one was faster than: the whole transaction may be tried again. */
export class WriteConflict extends Error {}

const attempts = 6

/** Calls again, a few times, what failed because of a concurrent write; each call must be one whole transaction. */
export async function retrying<T> (transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === attempts || !isWriteConflict(error)) throw error
      await delay(Math.random() * 5 * 2 ** attempt)
    }
  }
}

/** The store whose methods throw our errors instead of those of Prisma and the drivers. */
export function translating<T extends object> (store: T): T {
  const methods = Object.entries(store).map(([name, method]: [string, (...args: unknown[]) => Promise<unknown>]) => {
    return [name, (...args: unknown[]) => method(...args).catch((error: unknown) => { throw translate(error) })]
  })
  // The same names with the same parameters and results.
  return Object.fromEntries(methods) as T
}

export function translate (error: unknown): unknown {
  if (isAppError(error)) return error
  const { kind, sqlState } = driverFailure(error)
  if (sqlState === '22021' || sqlState === '22P05') return invalidRequest('The text has characters that cannot be stored.')
  if (error instanceof WriteConflict || isWriteConflict(error)) return new AppError('storage_unavailable', 'Too many writes at once. Try again shortly.', { cause: error })
  if (unavailableKinds.has(kind) || unavailableStates.test(sqlState) || isUnavailable(error)) return storageUnavailable(error)
  return error
}

/** Whether a unique constraint refused a row: any, or this one. */
export function isUniqueViolation (error: unknown, expected?: UniqueConstraint): boolean {
  const { kind, constraint } = driverFailure(error)
  if (kind !== 'UniqueConstraintViolation') return false
  return expected === undefined || constraint?.index === expected.index || constraint?.fields?.join() === expected.fields.join()
}

function isWriteConflict (error: unknown): boolean {
  return error instanceof WriteConflict || isUniqueViolation(error) || driverFailure(error).kind === 'TransactionWriteConflict' || codeOf(error) === 'P2034'
}

const unavailableKinds: ReadonlySet<string> = new Set([
  'DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections', 'TlsConnectionError',
  'AuthenticationFailed', 'DatabaseAccessDenied', 'DatabaseDoesNotExist'
])

// SQLSTATE classes: connection, authorization, no such database, resources, operator, system.
const unavailableStates = /^(08|28|3D|53|57|58)[0-9A-Z]{3}$/
// Prisma: cannot connect, timed out, connection closed, pool empty, transaction could not start or lost its connection.
// Node: the socket. The rest has no code.
const unavailableCodes = /^(P10\d\d|P2024|P2028|ECONN\w+|ETIMEDOUT|ENOTFOUND|EPIPE|EHOSTUNREACH|EAI_AGAIN|CLIENT_CLOSED)$/
const unavailableMessages = /Connection terminated|Query read timeout|timeout exceeded when trying to connect|connection error and is not queryable|after calling end on the pool|disk I\/O error|database or disk is full|database is closed|database is locked/i

function isUnavailable (error: unknown): boolean {
  return unavailableCodes.test(codeOf(error)) || (error instanceof Error && unavailableMessages.test(error.message))
}
