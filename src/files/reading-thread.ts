import { parentPort, type MessagePort } from 'node:worker_threads'
import { UnreadableFile, type FileFacts, type FileFault, type StoredFile } from './file.ts'
import { readFile } from './read-file.ts'

// What runs in a thread of its own, started by file-reader.ts: it reads one file after the other.

export interface ReadingTask extends Pick<StoredFile, 'kind' | 'mediaType'> { readonly bytes: Uint8Array }

export type ReadingAnswer =
  | { readonly ok: true, readonly bytes: Uint8Array<ArrayBuffer>, readonly facts: FileFacts }
  | { readonly ok: false, readonly fault: FileFault }

if (parentPort !== null) listen(parentPort)

/** What is thrown beside UnreadableFile is a fault of ours: it ends the thread, and whoever started it is told. */
function listen (port: MessagePort): void {
  port.on('message', (task: ReadingTask) => {
    const answer = answerTo(task)
    port.postMessage(answer, answer.ok ? [answer.bytes.buffer] : [])
  })
}

function answerTo ({ bytes, ...file }: ReadingTask): ReadingAnswer {
  try {
    const { bytes: read, facts } = readFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), file)
    return { ok: true, bytes: whole(read), facts }
  } catch (error) {
    if (error instanceof UnreadableFile) return { ok: false, fault: error.fault }
    throw error
  }
}

/** Bytes that can be given away: a part of a larger piece of memory is copied. */
function whole (bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? new Uint8Array(buffer) : new Uint8Array(bytes)
}
