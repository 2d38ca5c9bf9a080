import { createReadStream } from 'node:fs'
import { mkdir, open, opendir, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { isProvablyDead } from '../runs/holder.ts'
import type { FileStorage, IncomingBytes } from './file-storage.ts'

export interface LocalStorageOptions {
  readonly folder: string
  /** The process, see holder.ts. */
  readonly holder: string
  readonly newId: () => string
}

const batchSize = 200
// Of a process on another host nothing is known but the time it last wrote.
const forgottenMs = 3_600_000

/** Files in a folder: complete ones under their key, arriving ones in a folder of their own. Nothing is created before it is needed. */
export function createLocalStorage ({ folder, holder, newId }: LocalStorageOptions): FileStorage {
  const kept = join(folder, 'kept')
  const arriving = join(folder, 'arriving')
  let made: Promise<unknown> | undefined

  async function makeFolders (): Promise<void> {
    made ??= Promise.all([kept, arriving].map((path) => mkdir(path, { recursive: true })))
    await made.catch((error: unknown) => {
      made = undefined
      throw error
    })
  }

  const receive = async (): Promise<IncomingBytes> => {
    await makeFolders()
    const path = join(arriving, `${encodeURIComponent(holder)}~${newId()}`)
    return incoming(await open(path, 'wx', 0o600), path, kept)
  }

  const storage: FileStorage = {
    receive,
    write: async (key, bytes) => {
      const target = await receive()
      try {
        await target.write(bytes)
        await target.keep(key)
      } catch (error) {
        await target.discard()
        throw error
      }
    },
    open: async (key) => {
      const handle = await absent(open(join(kept, key), 'r'))
      if (handle === undefined) return undefined
      const { size } = await handle.stat()
      return { size, stream: createReadStream('', { fd: handle, autoClose: true }) }
    },
    read: async (key, limit) => await absent(readStart(join(kept, key), limit)),
    size: async (key) => (await absent(stat(join(kept, key))))?.size,
    remove: async (keys) => {
      for (const key of keys) await rm(join(kept, key), { force: true })
    },
    removeStale: async () => {
      for (const name of await absent(readdir(arriving)) ?? []) {
        const path = join(arriving, name)
        const writer = decodeURIComponent(name.slice(0, name.lastIndexOf('~')))
        const age = Date.now() - ((await absent(stat(path)))?.mtimeMs ?? Date.now())
        if (isProvablyDead(writer, holder) || (writer !== holder && age > forgottenMs)) await rm(path, { force: true })
      }
    },
    belongsTo: async (databaseId) => {
      const marker = join(folder, 'database')
      await makeFolders()
      await unlessTaken(writeFile(marker, databaseId, { flag: 'wx' }))
      return (await readFile(marker, 'utf8')) === databaseId
    },
    settledKeys: (olderThanMs) => settledKeys(kept, olderThanMs)
  }
  return translated(storage)
}

function incoming (handle: FileHandle, path: string, kept: string): IncomingBytes {
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await handle.close()
  }
  return {
    write: async (bytes) => { await translating(handle.writeFile(bytes)) },
    keep: async (key) => {
      await translating((async () => {
        await handle.sync()
        await close()
        await rename(path, join(kept, key))
        await syncFolder(kept)
      })())
    },
    discard: async () => {
      await close()
      await rm(path, { force: true })
    }
  }
}

/** Otherwise a loss of power could undo the rename. */
async function syncFolder (path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function readStart (path: string, limit: number | undefined): Promise<Buffer> {
  const handle = await open(path, 'r')
  try {
    if (limit === undefined) return await handle.readFile()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(limit), 0, limit, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function * settledKeys (folder: string, olderThanMs: number): AsyncGenerator<readonly string[], void> {
  const entries = await absent(opendir(folder))
  if (entries === undefined) return
  let batch: string[] = []
  for await (const { name } of entries) {
    const found = await absent(stat(join(folder, name)))
    if (found === undefined || Date.now() - found.mtimeMs < olderThanMs) continue
    batch.push(name)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function unlessTaken (promise: Promise<void>): Promise<void> {
  try {
    await promise
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

async function absent<T> (promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A disk that fails is said in our words. */
async function translating<T> (promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new AppError('storage_unavailable', 'The file storage is not usable. Try again shortly.', { cause })
  }
}

function translated (storage: FileStorage): FileStorage {
  return {
    ...storage,
    receive: () => translating(storage.receive()),
    write: (key, bytes) => translating(storage.write(key, bytes)),
    open: (key) => translating(storage.open(key)),
    read: (key, limit) => translating(storage.read(key, limit)),
    size: (key) => translating(storage.size(key)),
    remove: (keys) => translating(storage.remove(keys)),
    removeStale: () => translating(storage.removeStale()),
    belongsTo: (databaseId) => translating(storage.belongsTo(databaseId))
  }
}
