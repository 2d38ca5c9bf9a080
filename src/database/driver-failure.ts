/** A unique constraint, as SQLite names it (its columns) and as PostgreSQL does. */
export interface UniqueConstraint { readonly fields: readonly string[], readonly index: string }

/** What a database said of a statement, whoever carried it: the drivers themselves, or Prisma's adapters in an error of theirs. */
export interface DriverFailure {
  /** In the words of Prisma's adapters; '' for what we do not tell apart. */
  readonly kind: string
  readonly sqlState: string
  readonly constraint: Partial<UniqueConstraint> | undefined
}

interface SqliteError extends Error { readonly rawCode: number }
interface PostgresqlError extends Error { readonly code: string, readonly severity: string, readonly constraint?: string }
interface Carrier { readonly meta?: { readonly driverAdapterError?: { readonly cause?: unknown } }, readonly cause?: unknown }
interface Carried { readonly kind?: string, readonly originalCode?: string, readonly code?: string, readonly constraint?: DriverFailure['constraint'] }

export function driverFailure (error: unknown): DriverFailure {
  if (isSqliteError(error)) return ofSqlite(error)
  if (isPostgresqlError(error)) return ofPostgresql(error)
  const carrier = error as Carrier | null | undefined
  const cause = (carrier?.meta?.driverAdapterError?.cause ?? carrier?.cause ?? {}) as Carried
  return { kind: cause.kind ?? '', sqlState: cause.originalCode ?? cause.code ?? codeOf(error), constraint: cause.constraint }
}

export function codeOf (error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

// SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE; the low byte of any code is its family.
const uniqueCodes: ReadonlySet<number> = new Set([1555, 2067])
const busyFamily = 5

function ofSqlite ({ rawCode, message }: SqliteError): DriverFailure {
  if (uniqueCodes.has(rawCode)) return { kind: 'UniqueConstraintViolation', sqlState: '', constraint: { fields: columnsIn(message) } }
  return { kind: (rawCode & 0xff) === busyFamily ? 'SocketTimeout' : '', sqlState: '', constraint: undefined }
}

/** `UNIQUE constraint failed: Message.threadKey, Message.id` */
function columnsIn (message: string): string[] {
  return (message.split('constraint failed: ')[1] ?? '').split(', ').map((column) => column.slice(column.lastIndexOf('.') + 1))
}

function ofPostgresql ({ code, constraint }: PostgresqlError): DriverFailure {
  const kind = code === '23505' ? 'UniqueConstraintViolation' : code === '40001' || code === '40P01' ? 'TransactionWriteConflict' : ''
  return { kind, sqlState: code, constraint: constraint === undefined ? undefined : { index: constraint } }
}

function isSqliteError (error: unknown): error is SqliteError {
  return error instanceof Error && 'rawCode' in error && typeof error.rawCode === 'number'
}

function isPostgresqlError (error: unknown): error is PostgresqlError {
  return error instanceof Error && 'severity' in error && codeOf(error) !== ''
}
