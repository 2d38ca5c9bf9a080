import { Worker } from 'node:worker_threads'
import { UnreadableFile, type StoredFile } from './file.ts'
import type { ReadFile } from './read-file.ts'
import type { ReadingAnswer, ReadingTask } from './reading-thread.ts'

export interface FileReader {
  /**
   * Reads a file as what it is, beside everything else this process does. `bytes` may not be used any more. Throws
   * UnreadableFile where the file is at fault, or takes more time or memory than one may.
   */
  read: (bytes: Buffer, file: Pick<StoredFile, 'kind' | 'mediaType'>) => Promise<ReadFile>
  /** How many threads there are now. */
  readonly threads: number
  /** Ends the threads; what is being read fails. */
  close: () => Promise<void>
}

export interface FileReaderOptions {
  readonly timeoutMs?: number
  readonly maxHeapMb?: number
  /** How long a thread without work is kept. */
  readonly idleMs?: number
}

interface Thread {
  readonly worker: Worker
  idle: NodeJS.Timeout | undefined
}

const bytesPerMb = 1_048_576
// What it left in the memory of its thread goes with the thread.
const largeBytes = bytesPerMb
// Characters take up to two bytes and are there twice for a moment. One allocation far beyond the limit would end the
// whole process and not the thread, so that text does not come near.
const heapPerTextByte = 8

/** Threads are started when there is something to read, one for each file that is read at the same time, and kept for small ones. */
export function createFileReader ({ timeoutMs = 60_000, maxHeapMb = 256, idleMs = 10_000 }: FileReaderOptions = {}): FileReader {
  const threads = new Set<Thread>()
  const free: Thread[] = []

  return {
    async read (bytes, file) {
      if (file.kind !== 'image' && bytes.length * heapPerTextByte > maxHeapMb * bytesPerMb) throw tooMuchMemory()
      const isLarge = bytes.length > largeBytes
      const thread = free.pop() ?? start()
      clearTimeout(thread.idle)
      thread.worker.ref()
      const answer = await ask(thread, { bytes, ...file }).catch((error: unknown) => {
        end(thread)
        throw error
      })
      if (isLarge) void end(thread)
      else rest(thread)
      if (!answer.ok) throw new UnreadableFile(answer.fault.code, answer.fault.message)
      return { bytes: Buffer.from(answer.bytes.buffer), facts: answer.facts }
    },
    get threads () { return threads.size },
    close: async () => { await Promise.all(Array.from(threads, (thread) => end(thread))) }
  }

  function start (): Thread {
    const worker = new Worker(entry(), { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    const thread: Thread = { worker, idle: undefined }
    threads.add(thread)
    // One that dies while nobody asks it anything is not asked again.
    worker.on('error', () => {}).on('exit', () => { forget(thread) })
    return thread
  }

  /** Settles once: with the answer, with what broke the thread, or when its time is up. */
  async function ask ({ worker }: Thread, { bytes, kind, mediaType }: ReadingTask): Promise<ReadingAnswer> {
    const { promise, resolve, reject } = withResolvers<ReadingAnswer>()
    const limit = setTimeout(() => { reject(new UnreadableFile('too_complex', `Reading the file took longer than ${timeoutMs / 1_000} seconds.`)) }, timeoutMs)
    const onError = (error: NodeJS.ErrnoException) => { reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory() : error) }
    const onExit = () => { reject(new Error('The thread that read the file has ended')) }
    worker.once('message', resolve).once('error', onError).once('exit', onExit)
    worker.postMessage({ bytes, kind, mediaType } satisfies ReadingTask, isWhole(bytes) ? [bytes.buffer] : [])
    try {
      return await promise
    } finally {
      clearTimeout(limit)
      worker.off('message', resolve).off('error', onError).off('exit', onExit)
    }
  }

  function rest (thread: Thread): void {
    if (!threads.has(thread)) return
    thread.worker.unref()
    thread.idle = setTimeout(() => { void end(thread) }, idleMs).unref()
    free.push(thread)
  }

  async function end (thread: Thread): Promise<void> {
    forget(thread)
    await thread.worker.terminate()
  }

  function forget (thread: Thread): void {
    clearTimeout(thread.idle)
    threads.delete(thread)
    const at = free.indexOf(thread)
    if (at !== -1) free.splice(at, 1)
  }
}

/** The file beside this one, as it was built. Where this is source, as in tests, the thread needs tsx as the process does. */
function entry (): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./reading-thread.js', import.meta.url)
  const [tsx, source] = [import.meta.resolve('tsx/esm/api'), new URL('./reading-thread.ts', import.meta.url).href].map((url) => JSON.stringify(url))
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${source})`)}`)
}

/** Bytes that share their memory with others are copied. */
function isWhole (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
}

function tooMuchMemory (): UnreadableFile {
  return new UnreadableFile('too_complex', 'Reading the file takes more memory than one file may.')
}

function withResolvers<T> () {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((...settle) => { [resolve, reject] = settle })
  return { promise, resolve, reject }
}
