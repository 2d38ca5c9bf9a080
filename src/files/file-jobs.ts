import { isProvablyDead } from '../runs/holder.ts'
import { textKey, UnreadableFile, type FileFault } from './file.ts'
import type { FileStorage } from './file-storage.ts'
import type { Claim, FileOutcome, FileStore, WaitingFile } from './file-store.ts'
import type { FileReader } from './file-reader.ts'

export interface FileJobs {
  /** Sees to a file as soon as there is room. */
  add: (fileId: string) => void
  /** Takes up what was left behind and fails what cannot be done; called at start and from time to time. */
  sweep: () => Promise<void>
  /** Resolves when what is being read now has been read; the rest waits for the next start. */
  close: () => Promise<void>
}

export interface FileJobsOptions {
  readonly store: FileStore
  readonly storage: FileStorage
  readonly reader: Pick<FileReader, 'read'>
  readonly holder: string
  readonly newId: () => string
  readonly concurrency: number
  readonly log: { warn: (fields: object, message: string) => void, error: (fields: object, message: string) => void }
}

const leaseMs = 120_000
const maxAttempts = 3
const sweepLimit = 500

/** Reads files beside the requests that brought them, a few at a time. */
export function createFileJobs (options: FileJobsOptions): FileJobs {
  const { store, storage, reader, holder, newId, concurrency, log } = options
  const queue: Array<{ readonly id: string, readonly deadHolder: string | undefined }> = []
  const queued = new Set<string>()
  const running = new Set<Promise<void>>()
  let closed = false

  function enqueue (id: string, deadHolder?: string): void {
    if (closed || queued.has(id)) return
    queued.add(id)
    queue.push({ id, deadHolder })
    startNext()
  }

  function startNext (): void {
    while (running.size < concurrency) {
      const next = closed ? undefined : queue.shift()
      if (next === undefined) return
      const job = work(next.id, next.deadHolder)
        .catch((error: unknown) => { log.error({ err: error, fileId: next.id }, 'a file could not be seen to; it is taken up again later') })
        .finally(() => {
          queued.delete(next.id)
          running.delete(job)
          startNext()
        })
      running.add(job)
    }
  }

  async function work (id: string, deadHolder: string | undefined): Promise<void> {
    const claim = await store.claim(id, { claimId: newId(), holder, leaseUntil: new Date(Date.now() + leaseMs), deadHolder })
    if (claim === undefined) return
    const outcome = await read(claim)
    if (await store.finish(claim, outcome)) return
    // Cancelled, or deleted with its bytes while it was being read: then what we wrote goes too.
    const { storageKey } = claim.file
    if (!(await store.knownKeys([storageKey])).has(storageKey)) await storage.remove([storageKey, textKey(storageKey)])
  }

  async function read (claim: Claim): Promise<FileOutcome> {
    const { file } = claim
    try {
      const bytes = await storage.read(file.storageKey)
      if (bytes === undefined) return failed({ code: 'processing_failed', message: 'The content of the file is gone. Upload it again.' })
      const read = await reader.read(bytes, file)
      await store.setStep(claim, 'storing')
      const isImage = file.kind === 'image'
      await storage.write(isImage ? file.storageKey : textKey(file.storageKey), read.bytes)
      return { status: 'completed', facts: read.facts, ...(isImage ? { size: read.bytes.length } : {}) }
    } catch (error) {
      if (error instanceof UnreadableFile) return failed(error.fault)
      log.error({ err: error, fileId: file.id }, 'reading a file failed')
      return failed({ code: 'processing_failed', message: 'The file could not be read because of a fault of ours. Try again.' })
    }
  }

  async function look (file: WaitingFile): Promise<void> {
    if (file.status === 'pending') { enqueue(file.id); return }
    const dead = file.holder !== undefined && isProvablyDead(file.holder, holder)
    const over = (file.leaseUntil?.getTime() ?? 0) < Date.now()
    if (queued.has(file.id) || (!dead && !over)) return
    if (file.attempts < maxAttempts) { enqueue(file.id, file.holder); return }
    const claim = await store.claim(file.id, { claimId: newId(), holder, leaseUntil: new Date(Date.now() + leaseMs), deadHolder: file.holder })
    if (claim === undefined) return
    log.warn({ fileId: file.id, attempts: file.attempts }, 'a file was given up: nobody finished reading it')
    await store.finish(claim, failed({ code: 'stuck', message: 'Reading the file did not come to an end. Try again.' }))
  }

  return {
    add: (fileId) => { enqueue(fileId) },
    sweep: async () => {
      for (const file of await store.waiting(sweepLimit)) await look(file)
    },
    close: async () => {
      closed = true
      await Promise.all(running)
    }
  }
}

function failed (error: FileFault): FileOutcome {
  return { status: 'failed', error }
}
