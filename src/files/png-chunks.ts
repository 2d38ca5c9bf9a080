import { crc32 } from 'node:zlib'
import { assertPartsAreFew } from './image-parts.ts'

export interface PngChunk { readonly type: string, readonly data: Buffer, readonly whole: Buffer }

export const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The chunks of a PNG up to its end; undefined where it is cut off or a checksum is wrong. Throws UnreadableFile for too many. */
export function pngChunks (bytes: Buffer): readonly PngChunk[] | undefined {
  if (!bytes.subarray(0, 8).equals(pngSignature)) return undefined
  const chunks: PngChunk[] = []
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined
    const type = bytes.toString('latin1', at + 4, at + 8)
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    assertPartsAreFew(chunks)
    if (type === 'IEND') return chunks
    at = end
  }
  return undefined
}
