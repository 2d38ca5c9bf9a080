import { contentPath, type StoredFile } from './file.ts'
import type { UploadResult } from './file-service.ts'

/** A file as the API shows it: what is known to be nothing is null. */
export function fileView (file: StoredFile, baseUrl: string) {
  const { id, threadId, name, mediaType, size, status, step, error, facts, createdAt, updatedAt } = file
  return {
    id,
    threadId,
    name,
    mediaType,
    size,
    status,
    step: step ?? null,
    error: error ?? null,
    facts,
    url: `${baseUrl}${contentPath(threadId, id)}`,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString()
  }
}

/** What became of one file of an upload. */
export function uploadResultView (result: UploadResult, baseUrl: string) {
  if (result.kind === 'accepted') return fileView(result.file, baseUrl)
  const { existingId } = result.error.details ?? {}
  return { name: result.name, status: 'refused' as const, error: result.error, ...(existingId === undefined ? {} : { existingId }) }
}
