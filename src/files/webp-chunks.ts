import { assertPartsAreFew } from './image-parts.ts'

export interface WebpChunk { readonly type: string, readonly data: Buffer, readonly whole: Buffer }

/** The chunks of a WebP image; undefined where it is cut off. Throws UnreadableFile for too many. */
export function webpChunks (bytes: Buffer): readonly WebpChunk[] | undefined {
  if (bytes.length < 20 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined
  const end = 8 + bytes.readUInt32LE(4)
  if (end > bytes.length) return undefined
  const chunks: WebpChunk[] = []
  let at = 12
  while (at + 8 <= end) {
    const size = bytes.readUInt32LE(at + 4)
    if (at + 8 + size > end) return undefined
    const next = at + 8 + size + size % 2
    chunks.push({ type: bytes.toString('latin1', at, at + 4), data: bytes.subarray(at + 8, at + 8 + size), whole: bytes.subarray(at, next) })
    assertPartsAreFew(chunks)
    at = next
  }
  return chunks
}
