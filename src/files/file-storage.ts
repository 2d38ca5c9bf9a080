import type { Readable } from 'node:stream'

/** Bytes on their way in: nobody sees them before `keep`. One of `keep` and `discard` must be called. */
export interface IncomingBytes {
  write: (bytes: Uint8Array) => Promise<void>
  /** Makes what was written the content of a key, all or nothing, safe against a loss of power. */
  keep: (key: string) => Promise<void>
  /** Idempotent; nothing is left. */
  discard: () => Promise<void>
}

export interface StoredBytes { readonly size: number, readonly stream: Readable }

/** Where the bytes of files are. Keys are made by us: letters, digits, "-" and ".". A full or missing disk is storage_unavailable. */
export interface FileStorage {
  receive: () => Promise<IncomingBytes>
  /** Replaces what the key had. */
  write: (key: string, bytes: Uint8Array) => Promise<void>
  /** The caller reads the stream to its end, or destroys it. */
  open: (key: string) => Promise<StoredBytes | undefined>
  /** The first `limit` bytes, or all. */
  read: (key: string, limit?: number) => Promise<Buffer | undefined>
  size: (key: string) => Promise<number | undefined>
  /** What is not there is no failure. */
  remove: (keys: readonly string[]) => Promise<void>
  /** Removes what a dead process was receiving. */
  removeStale: () => Promise<void>
  /** Whether the bytes are those of this database: of the first one that asked. */
  belongsTo: (databaseId: string) => Promise<boolean>
  /** Keys that have not changed for so long, in batches. */
  settledKeys: (olderThanMs: number) => AsyncGenerator<readonly string[], void>
}
