export const fileStatuses = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const
export type FileStatus = typeof fileStatuses[number]

/** How a file is read. */
export type FileKind = 'text' | 'csv' | 'json' | 'jsonl' | 'image'

/** Why a file that was taken could not be read: kept with it, so these are a contract too (docs/files.md). */
export type FileFaultCode = 'broken' | 'too_complex' | 'encoding_unknown' | 'binary' | 'empty' | 'invalid_json' | 'invalid_jsonl' | 'stuck' | 'processing_failed'

export interface FileFault { readonly code: FileFaultCode, readonly message: string }

/** What processing found out about a file, as far as it is known for its kind. */
export interface FileFacts {
  readonly encoding?: string
  readonly characters?: number
  readonly lines?: number
  readonly rows?: number
  readonly columns?: readonly string[]
  readonly delimiter?: string
  readonly records?: number
  readonly width?: number
  readonly height?: number
  /** Something a reader should know, in a sentence. */
  readonly note?: string
}

/** One upload, of one thread. */
export interface StoredFile {
  readonly id: string
  readonly threadId: string
  /** As its sender called it: for people, never a path. */
  readonly name: string
  /** What it is, whatever it was declared as. */
  readonly mediaType: string
  readonly kind: FileKind
  readonly size: number
  readonly sha256: string
  readonly storageKey: string
  readonly status: FileStatus
  readonly step: string | undefined
  readonly error: FileFault | undefined
  readonly facts: FileFacts
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Thrown by what reads files: the file is at fault, and says so in words for its owner. */
export class UnreadableFile extends Error {
  readonly fault: FileFault

  constructor (code: FileFaultCode, message: string) {
    super(message)
    this.name = 'UnreadableFile'
    this.fault = { code, message }
  }
}

/** Where the bytes of a file are served. */
export function contentPath (threadId: string, fileId: string): string {
  return `/v1/threads/${threadId}/files/${fileId}/content`
}

/** The key of the text that was read from a file. */
export function textKey (storageKey: string): string {
  return `${storageKey}.text`
}
