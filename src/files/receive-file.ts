import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { AcceptedType } from './accepted-types.ts'
import { shownName } from './file-name.ts'
import type { FileStorage, IncomingBytes } from './file-storage.ts'
import { headBytes, recognise } from './recognise.ts'

/** One file of an upload, while its bytes come. */
export interface UploadPart {
  readonly name: string | undefined
  readonly declaredType: string
  /** Ends early at the limit; `truncated` says so afterwards. Must be read to its end, or nothing after it arrives. */
  readonly content: AsyncIterable<Buffer>
  readonly truncated: () => boolean
}

export type ReceivedFile =
  | { readonly kind: 'refused', readonly name: string, readonly error: AppError }
  | { readonly kind: 'received', readonly name: string, readonly type: AcceptedType, readonly size: number, readonly sha256: string, readonly bytes: IncomingBytes }

export interface ReceiveOptions {
  readonly storage: FileStorage
  readonly allowed: readonly AcceptedType[]
  readonly maxBytes: number
}

/**
 * Writes a file away while its bytes come, and says what it is. What is refused is read on to its end, and not kept;
 * when the source fails nothing is kept either, and its error is thrown.
 */
export async function receiveFile (part: UploadPart, { storage, allowed, maxBytes }: ReceiveOptions): Promise<ReceivedFile> {
  const name = shownName(part.name)
  const bytes = await storage.receive()
  try {
    const written = await writeAway(part, bytes, name, allowed)
    const error = part.truncated() ? tooLarge(name, maxBytes) : written.blank ? unsupported(name, 'empty', 'The file is empty.') : written.refusal
    if (error === undefined && written.type !== undefined) return { kind: 'received', name, type: written.type, size: written.size, sha256: written.sha256, bytes }
    await bytes.discard()
    return { kind: 'refused', name, error: error ?? unsupported(name, 'type', 'The file is not accepted.') }
  } catch (error) {
    await bytes.discard()
    throw error
  }
}

interface Written {
  readonly size: number
  readonly sha256: string
  readonly blank: boolean
  readonly type?: AcceptedType
  readonly refusal?: AppError
}

async function writeAway ({ content, declaredType }: UploadPart, bytes: IncomingBytes, name: string, allowed: readonly AcceptedType[]): Promise<Written> {
  const hash = createHash('sha256')
  let size = 0
  let blank = true
  let head = Buffer.alloc(0)
  let judged: Pick<Written, 'type' | 'refusal'> | undefined

  for await (const chunk of content) {
    size += chunk.length
    blank &&= isBlank(chunk)
    if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
    if (judged === undefined && head.length >= headBytes) judged = await judge({ name, declaredType, head }, allowed)
    if (judged?.refusal !== undefined) continue
    hash.update(chunk)
    await bytes.write(chunk)
  }
  judged ??= await judge({ name, declaredType, head }, allowed)
  return { size, blank, sha256: hash.digest('hex'), ...judged }
}

async function judge (file: { name: string, declaredType: string, head: Buffer }, allowed: readonly AcceptedType[]): Promise<Pick<Written, 'type' | 'refusal'>> {
  const recognised = await recognise(file, allowed)
  return recognised.ok ? { type: recognised.type } : { refusal: unsupported(file.name, recognised.reason, recognised.message) }
}

// Of ASCII, of either half of UTF-16, and of the marks in front of UTF-8 and UTF-16.
const blankBytes: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff])

function isBlank (chunk: Buffer): boolean {
  return chunk.every((byte) => blankBytes.has(byte))
}

function unsupported (name: string, reason: string, message: string): AppError {
  return new AppError('file_unsupported', `${name}: ${message}`, { details: { reason } })
}

function tooLarge (name: string, maxBytes: number): AppError {
  return new AppError('payload_too_large', `${name}: the file is larger than ${maxBytes} bytes.`, { details: { reason: 'size' } })
}
