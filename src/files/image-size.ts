import { UnreadableFile } from './file.ts'
import { jpegSegments } from './jpeg-segments.ts'
import { pngChunks } from './png-chunks.ts'
import { webpChunks } from './webp-chunks.ts'

export interface ImageSize { readonly width: number, readonly height: number }

// More than any camera makes; a few bytes can claim to be far larger.
const maxPixels = 100_000_000

/** The size of an image that is there from its first byte to its last. Throws UnreadableFile for a cut, faulty or enormous one. */
export function imageSize (bytes: Buffer, mediaType: string): ImageSize {
  const size = sizeIn(bytes, mediaType)
  if (size === undefined || size.width === 0 || size.height === 0) throw new UnreadableFile('broken', 'The image is damaged or incomplete.')
  if (size.width * size.height > maxPixels) throw new UnreadableFile('too_complex', `The image is too large: ${size.width} x ${size.height} pixels.`)
  return size
}

function sizeIn (bytes: Buffer, mediaType: string): ImageSize | undefined {
  switch (mediaType) {
    case 'image/png': return pngSize(bytes)
    case 'image/jpeg': return jpegSize(bytes)
    case 'image/gif': return gifSize(bytes)
    case 'image/webp': return webpSize(bytes)
    default: return undefined
  }
}

function pngSize (bytes: Buffer): ImageSize | undefined {
  const chunks = pngChunks(bytes)
  const header = chunks?.[0]
  if (chunks === undefined || header?.type !== 'IHDR' || header.data.length !== 13 || !chunks.some(({ type }) => type === 'IDAT')) return undefined
  return { width: header.data.readUInt32BE(0), height: header.data.readUInt32BE(4) }
}

function jpegSize (bytes: Buffer): ImageSize | undefined {
  // Start of frame, of whatever kind; C4, C8 and CC are something else.
  const frame = jpegSegments(bytes)?.find(({ marker }) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
  if (frame === undefined || frame.data.length < 5) return undefined
  return { height: frame.data.readUInt16BE(1), width: frame.data.readUInt16BE(3) }
}

function webpSize (bytes: Buffer): ImageSize | undefined {
  const chunks = webpChunks(bytes)
  const { type, data } = chunks?.[0] ?? {}
  if (chunks === undefined || data === undefined || data.length < 10 || !chunks.some(({ type }) => ['VP8 ', 'VP8L', 'ANMF'].includes(type))) return undefined
  if (type === 'VP8X') return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
  if (type === 'VP8 ') return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
  const bits = data.readUInt32LE(1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Walks the blocks to the trailer, which a cut file does not have. */
function gifSize (bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 14) return undefined
  let at = 13 + colorTable(bytes[10])
  let frames = 0
  while (at < bytes.length) {
    const block = bytes[at]
    if (block === 0x3b) return frames === 0 ? undefined : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
    if (block === 0x2c) {
      frames++
      at = pastSubBlocks(bytes, at + 10 + colorTable(bytes[at + 9]) + 1)
    } else if (block === 0x21) {
      at = pastSubBlocks(bytes, at + 2)
    } else {
      return undefined
    }
  }
  return undefined
}

function colorTable (flags: number | undefined): number {
  return flags !== undefined && (flags & 0x80) !== 0 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

function pastSubBlocks (bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== 0) at += (bytes[at] ?? 0) + 1
  return at + 1
}
