import type { Principal } from '../auth/principal.ts'
import type { Page } from '../threads/thread-store.ts'
import type { FileFacts, FileFault, StoredFile } from './file.ts'

export type NewFile = Pick<StoredFile, 'id' | 'name' | 'mediaType' | 'kind' | 'size' | 'sha256' | 'storageKey'>

export type Insertion =
  | { readonly kind: 'stored', readonly file: StoredFile }
  /** The thread has a file of the same bytes. */
  | { readonly kind: 'duplicate', readonly existingId: string }
  | { readonly kind: 'no-thread' }

/** A file that one job has for itself until its lease ends. */
export interface Claim { readonly claimId: string, readonly file: StoredFile }

export interface WaitingFile {
  readonly id: string
  readonly status: 'pending' | 'processing'
  readonly attempts: number
  readonly holder: string | undefined
  readonly leaseUntil: Date | undefined
}

export type FileOutcome =
  | { readonly status: 'completed', readonly facts: FileFacts, readonly size?: number }
  | { readonly status: 'failed', readonly error: FileFault }

/**
 * Files of threads. What is not the principal's is answered as if it did not exist. A malformed cursor is
 * invalid_request; a database that cannot be reached is storage_unavailable.
 */
export interface FileStore {
  insert: (principal: Principal, threadId: string, file: NewFile) => Promise<Insertion>
  find: (principal: Principal, threadId: string, fileId: string) => Promise<StoredFile | undefined>
  /** Those of the ids that are files of this thread. */
  findMany: (principal: Principal, threadId: string, fileIds: readonly string[]) => Promise<readonly StoredFile[]>
  /** Newest first; undefined without the thread. */
  list: (principal: Principal, threadId: string, query: { limit: number, cursor?: string | undefined }) => Promise<Page<StoredFile> | undefined>
  /** The file that was removed. */
  remove: (principal: Principal, threadId: string, fileId: string) => Promise<StoredFile | undefined>
  /** Storage keys of one thread, or of all threads of the principal. */
  keysOf: (principal: Principal, threadId?: string) => Promise<readonly string[]>
  /** False unless the file is in a state that this leads out of: retry from failed or cancelled, cancel from pending or processing. */
  retry: (principal: Principal, threadId: string, fileId: string) => Promise<boolean>
  cancel: (principal: Principal, threadId: string, fileId: string) => Promise<boolean>

  /** Files of any owner that a job has to see to, the oldest first. */
  waiting: (limit: number) => Promise<readonly WaitingFile[]>
  /** Takes a pending file, or a processing one whose lease has ended or whose holder is `deadHolder`. */
  claim: (fileId: string, claim: { claimId: string, holder: string, leaseUntil: Date, deadHolder?: string | undefined }) => Promise<Claim | undefined>
  setStep: (claim: Claim, step: string) => Promise<void>
  /** False, and nothing written, when the claim is no longer the file's. */
  finish: (claim: Claim, outcome: FileOutcome) => Promise<boolean>
  /** The same for as long as the database lives, and of no other. */
  databaseId: () => Promise<string>
  /** Which of these keys belong to a file of anybody. */
  knownKeys: (keys: readonly string[]) => Promise<ReadonlySet<string>>
}
