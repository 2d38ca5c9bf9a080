import { join } from 'node:path'
import type { AgentRegistry } from '../agents/registry.ts'
import { AppError } from '../errors.ts'
import type { ThreadAccess } from '../threads/thread-access.ts'
import type { ThreadStore } from '../threads/thread-store.ts'
import { allowedTypes, type AcceptedType } from './accepted-types.ts'
import { createAttachments, type Attachments } from './attachments.ts'
import { createFileCleanup, type FileCleanup } from './file-cleanup.ts'
import { createFileReader } from './file-reader.ts'
import { createFileJobs } from './file-jobs.ts'
import { createFileService, type FileService } from './file-service.ts'
import type { FileStore } from './file-store.ts'
import { createLocalStorage } from './local-storage.ts'

export interface FilesOptions {
  readonly config: {
    readonly dataDir: string
    readonly maxUploadBytes: number
    readonly maxUploadFiles: number
    readonly inlineTextChars: number
    readonly allowedFiles?: readonly string[] | undefined
  }
  readonly agents: AgentRegistry
  readonly access: ThreadAccess
  readonly database: { readonly files: FileStore, readonly threads: ThreadStore }
  readonly holder: string
  readonly newId: () => string
  readonly log: { warn: (fields: object, message: string) => void, error: (fields: object, message: string) => void }
}

/** All that has to do with files. Nothing is read or swept before `start`. */
export interface Files {
  readonly service: FileService
  readonly attachments: Attachments
  readonly cleanup: FileCleanup
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

const concurrency = 2
const sweepEveryMs = 30_000
const cleanEveryMs = 3_600_000

/** Throws configuration_error for types of files that do not exist. */
export function openFiles ({ config, agents, access, database, holder, newId, log }: FilesOptions): Files {
  const { files: store, threads } = database
  const storage = createLocalStorage({ folder: join(config.dataDir, 'files'), holder, newId })
  const reader = createFileReader()
  const jobs = createFileJobs({ store, storage, reader, holder, newId, concurrency, log })
  const cleanup = createFileCleanup({ store, storage, log })
  const limits = { maxBytes: config.maxUploadBytes, maxFiles: config.maxUploadFiles, allowed: allowed(config.allowedFiles) }
  const timers: NodeJS.Timeout[] = []
  const attempt = (what: string, work: () => Promise<void>) => {
    work().catch((error: unknown) => { log.warn({ err: error }, what) })
  }

  return {
    service: createFileService({ store, storage, jobs, threads, access, agents, limits, newId }),
    attachments: createAttachments({ store, storage, inlineTextChars: config.inlineTextChars, log }),
    cleanup,
    start: async () => {
      await cleanup.sweep()
      await jobs.sweep()
      timers.push(
        setInterval(() => { attempt('looking after unread files failed', jobs.sweep) }, sweepEveryMs),
        setInterval(() => { attempt('clearing the file storage failed', cleanup.sweep) }, cleanEveryMs))
      for (const timer of timers) timer.unref()
    },
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      await jobs.close()
      await reader.close()
    }
  }
}

function allowed (extensions: readonly string[] | undefined): readonly AcceptedType[] {
  try {
    return allowedTypes(extensions)
  } catch (cause) {
    throw new AppError('configuration_error', cause instanceof Error ? cause.message : 'ALLOWED_FILES is not usable.', { cause })
  }
}
