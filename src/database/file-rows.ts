import { empty, raw, sqltag as sql, type Sql } from '@prisma/client/runtime/client'
import type { FileFacts, FileFault, FileKind, FileStatus, StoredFile } from '../files/file.ts'
import type { FileOutcome } from '../files/file-store.ts'
import { storable } from './text.ts'

export interface FileRow {
  readonly id: string
  readonly threadId: string
  readonly name: string
  readonly mediaType: string
  readonly kind: string
  readonly size: number
  readonly sha256: string
  readonly storageKey: string
  readonly status: string
  readonly step: string | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly facts: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Of file `f`, and the id its thread `t` has for its owner. */
export const fileColumns = raw([...['id', 'name', 'mediaType', 'kind', 'size', 'sha256', 'storageKey', 'status', 'step', 'errorCode', 'errorMessage', 'facts', 'createdAt', 'updatedAt'].map((name) => `f."${name}"`), 't.id AS "threadId"'].join(', '))

/** Only we write this table, so a text column holds what its type says; hence the `as`. */
export function toFile (row: FileRow): StoredFile {
  const { id, threadId, name, mediaType, size, sha256, storageKey, createdAt, updatedAt } = row
  const error = row.errorCode === null ? undefined : { code: row.errorCode, message: row.errorMessage ?? '' } as FileFault
  return {
    id, threadId, name, mediaType, kind: row.kind as FileKind, size, sha256, storageKey, status: row.status as FileStatus,
    step: row.step ?? undefined, error, facts: JSON.parse(row.facts) as FileFacts, createdAt, updatedAt
  }
}

/** The columns that an outcome sets. */
export function outcomeColumns (outcome: FileOutcome): Sql {
  switch (outcome.status) {
    case 'completed': return sql`status = 'completed', facts = ${storable(JSON.stringify(outcome.facts))} ${outcome.size === undefined ? empty : sql`, size = ${outcome.size}`}`
    case 'failed': return sql`status = 'failed', "errorCode" = ${outcome.error.code}, "errorMessage" = ${storable(outcome.error.message)}`
    default: return outcome satisfies never
  }
}
