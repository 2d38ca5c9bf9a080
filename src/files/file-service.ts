import type { AgentRegistry } from '../agents/registry.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, invalidRequest, notFound, toPublicError, type PublicError } from '../errors.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { Page, ThreadStore } from '../threads/thread-store.ts'
import { extensionsOf, type AcceptedType } from './accepted-types.ts'
import { textKey, type StoredFile } from './file.ts'
import type { FileJobs } from './file-jobs.ts'
import type { FileStorage, StoredBytes } from './file-storage.ts'
import type { FileStore } from './file-store.ts'
import { receiveFile, type ReceivedFile, type UploadPart } from './receive-file.ts'

export interface UploadLimits {
  readonly maxBytes: number
  readonly maxFiles: number
  readonly allowed: readonly AcceptedType[]
}

export type UploadResult =
  | { readonly kind: 'accepted', readonly file: StoredFile }
  | { readonly kind: 'refused', readonly name: string, readonly error: PublicError }

export interface FileContent extends StoredBytes {
  readonly file: StoredFile
  /** Whether a browser may show it in place. */
  readonly inline: boolean
}

/** Files of threads. What is not there, or not for the caller to see, is not_found; what they may see and not do is permission_denied. */
export interface FileService {
  /** Throws what `parts` throw, or when every file is refused why the first was; nothing of the request is kept then. */
  upload: (principal: Principal, threadId: string, parts: AsyncIterable<UploadPart>) => Promise<readonly UploadResult[]>
  list: (principal: Principal, threadId: string, query: { limit: number, cursor?: string | undefined }) => Promise<Page<StoredFile>>
  get: (principal: Principal, threadId: string, fileId: string) => Promise<StoredFile>
  content: (principal: Principal, threadId: string, fileId: string) => Promise<FileContent>
  remove: (principal: Principal, threadId: string, fileId: string) => Promise<void>
  retry: (principal: Principal, threadId: string, fileId: string) => Promise<StoredFile>
  cancel: (principal: Principal, threadId: string, fileId: string) => Promise<StoredFile>
  /** What is enforced, for clients to show. */
  settings: () => { maxBytes: number, maxFiles: number, extensions: readonly string[], mediaTypes: readonly string[] }
}

export interface FileServiceOptions {
  readonly store: FileStore
  readonly storage: FileStorage
  readonly jobs: FileJobs
  readonly threads: Pick<ThreadStore, 'get'>
  readonly access: ThreadAccess
  readonly agents: AgentRegistry
  readonly limits: UploadLimits
  readonly newId: () => string
}

export function createFileService ({ store, storage, jobs, threads, access, agents, limits, newId }: FileServiceOptions): FileService {
  const get = async (asker: Principal, threadId: string, fileId: string) => found(await store.find(asker, threadId, fileId))

  return {
    async upload (principal, threadId, parts) {
      const asker = await access.enter(principal, 'upload', { threadId })
      await assertUploads(asker, threadId)
      const received: ReceivedFile[] = []
      try {
        for await (const part of parts) received.push(await receiveFile(part, { storage, ...limits }))
        if (received.length === 0) throw invalidRequest('file: expected at least one file.', [{ path: 'file', message: 'expected at least one file' }])
        return settled(await keepAll(asker, threadId, received))
      } finally {
        for (const file of received) if (file.kind === 'received') await file.bytes.discard()
      }
    },
    list: async (principal, threadId, query) => {
      const asker = await access.enter(principal, 'view_file', { threadId })
      const page = await store.list(asker, threadId, query)
      if (page !== undefined) return page
      // One that is kept outside of the database has no files.
      if (await threads.get(asker, threadId) === undefined) throw notFound('thread')
      return { items: [], nextCursor: undefined }
    },
    get: async (principal, threadId, fileId) => await get(await access.enter(principal, 'view_file', { threadId }), threadId, fileId),
    async content (principal, threadId, fileId) {
      const file = await get(await access.enter(principal, 'view_file', { threadId }), threadId, fileId)
      // An image leaves once it is known to be one, and without what a camera wrote into it.
      if (file.kind === 'image' && file.status !== 'completed') throw new AppError('conflict', 'The image has not been checked yet, or it could not be read.')
      const bytes = await storage.open(file.storageKey)
      if (bytes === undefined) throw notFound('file')
      return { ...bytes, file, inline: file.kind === 'image' }
    },
    async remove (principal, threadId, fileId) {
      const { storageKey } = found(await store.remove(await access.enter(principal, 'manage_file', { threadId }), threadId, fileId))
      await storage.remove([storageKey, textKey(storageKey)])
    },
    async retry (principal, threadId, fileId) {
      const asker = await access.enter(principal, 'manage_file', { threadId })
      const changed = await store.retry(asker, threadId, fileId)
      const file = await get(asker, threadId, fileId)
      if (!changed) throw new AppError('conflict', 'Only a file that failed or was cancelled can be tried again.')
      jobs.add(fileId)
      return file
    },
    async cancel (principal, threadId, fileId) {
      const asker = await access.enter(principal, 'manage_file', { threadId })
      const changed = await store.cancel(asker, threadId, fileId)
      const file = await get(asker, threadId, fileId)
      if (!changed && file.status !== 'cancelled') throw new AppError('conflict', 'The file has been read already.')
      return file
    },
    settings: () => ({ maxBytes: limits.maxBytes, maxFiles: limits.maxFiles, extensions: extensionsOf(limits.allowed), mediaTypes: limits.allowed.map(({ mediaType }) => mediaType) })
  }

  async function assertUploads (principal: Principal, threadId: string): Promise<void> {
    const thread = await threads.get(principal, threadId)
    if (thread === undefined) throw notFound('thread')
    if (agents.find(thread.agentId)?.fileUpload !== true) throw new AppError('permission_denied', 'The agent of this thread takes no files.')
  }

  type Kept = { readonly kind: 'accepted', readonly file: StoredFile } | { readonly kind: 'refused', readonly name: string, readonly error: AppError }

  async function keepAll (principal: Principal, threadId: string, received: readonly ReceivedFile[]): Promise<readonly Kept[]> {
    const results: Kept[] = []
    for (const file of received) results.push(file.kind === 'refused' ? file : await keep(principal, threadId, file))
    return results
  }

  /** The bytes first: a row without bytes would be a broken file, bytes without a row are swept away. */
  async function keep (principal: Principal, threadId: string, { name, type, size, sha256, bytes }: ReceivedFile & { kind: 'received' }): Promise<Kept> {
    const storageKey = newId()
    await bytes.keep(storageKey)
    try {
      const inserted = await store.insert(principal, threadId, { id: newId(), name, mediaType: type.mediaType, kind: type.kind, size, sha256, storageKey })
      if (inserted.kind === 'stored') {
        jobs.add(inserted.file.id)
        return { kind: 'accepted', file: inserted.file }
      }
      await storage.remove([storageKey])
      if (inserted.kind === 'no-thread') throw notFound('thread')
      return { kind: 'refused', name, error: new AppError('conflict', `${name}: the thread has this file already.`, { details: { reason: 'duplicate', existingId: inserted.existingId } }) }
    } catch (error) {
      await storage.remove([storageKey])
      throw error
    }
  }

  function settled (results: readonly Kept[]): readonly UploadResult[] {
    const refusals = results.filter((result) => result.kind === 'refused')
    const [first] = refusals
    if (first !== undefined && refusals.length === results.length) throw refusals.length === 1 ? first.error : together(first.error, refusals.map(({ error }) => error))
    return results.map((result) => result.kind === 'accepted' ? result : { kind: 'refused', name: result.name, error: toPublicError(result.error) })
  }
}

/** Every file of a request was refused: why the first was, and in the details all. */
function together (first: AppError, errors: readonly AppError[]): AppError {
  return new AppError(first.code, first.message, { details: { ...first.details, issues: errors.map(({ message }, index) => ({ path: `file.${index}`, message })) } })
}

function found (file: StoredFile | undefined): StoredFile {
  if (file === undefined) throw notFound('file')
  return file
}
