import { jpegSegments } from './jpeg-segments.ts'
import { pngChunks, pngSignature } from './png-chunks.ts'
import { webpChunks, type WebpChunk } from './webp-chunks.ts'

/**
 * An image without what cameras and editors write beside it: where it was taken, with what, by whom. The pixels are
 * untouched, and a photo still stands upright. The image must be whole.
 */
export function stripMetadata (bytes: Buffer, mediaType: string): Buffer {
  switch (mediaType) {
    case 'image/jpeg': return stripJpeg(bytes)
    case 'image/png': return stripPng(bytes)
    case 'image/webp': return stripWebp(bytes)
    default: return bytes
  }
}

// Exif and XMP; Photoshop and its captions. The other ones say how colours are meant.
const jpegMetadata: ReadonlySet<number> = new Set([0xe1, 0xed])
const comment = 0xfe

function stripJpeg (bytes: Buffer): Buffer {
  const segments = jpegSegments(bytes)
  if (segments === undefined) return bytes
  const orientation = segments.map(({ marker, data }) => marker === 0xe1 ? orientationIn(data) : undefined).find((value) => value !== undefined)
  const kept = segments.filter(({ marker }) => !jpegMetadata.has(marker) && marker !== comment).map(({ start, end }) => bytes.subarray(start, end))
  const scan = segments.at(-1)?.end ?? bytes.length
  const end = bytes.lastIndexOf(Buffer.from([0xff, 0xd9]))
  const upright = orientation === undefined || orientation === 1 ? [] : [orientationSegment(orientation)]
  // After JFIF, which must come first where it is there.
  const [first, ...rest] = kept
  const ordered = first?.[1] === 0xe0 ? [first, ...upright, ...rest] : [...upright, ...kept]
  return Buffer.concat([bytes.subarray(0, 2), ...ordered, bytes.subarray(scan, end + 2)])
}

const exifName = Buffer.from('Exif\0\0', 'latin1')
const orientationTag = 0x0112

function orientationIn (data: Buffer): number | undefined {
  if (!data.subarray(0, 6).equals(exifName) || data.length < 16) return undefined
  const tiff = data.subarray(6)
  const little = tiff.toString('latin1', 0, 2) === 'II'
  const u16 = (at: number) => at + 2 > tiff.length ? 0 : little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at)
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  for (let entry = 0; entry < u16(directory); entry++) {
    const at = directory + 2 + entry * 12
    if (at + 12 > tiff.length) return undefined
    if (u16(at) === orientationTag) return u16(at + 8) >= 1 && u16(at + 8) <= 8 ? u16(at + 8) : undefined
  }
  return undefined
}

/** Exif that says which side is up and nothing else. */
function orientationSegment (orientation: number): Buffer {
  const tiff = Buffer.from([0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0])
  const length = 2 + exifName.length + tiff.length
  return Buffer.concat([Buffer.from([0xff, 0xe1, length >> 8, length & 0xff]), exifName, tiff])
}

const pngMetadata: ReadonlySet<string> = new Set(['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME'])

function stripPng (bytes: Buffer): Buffer {
  const chunks = pngChunks(bytes)
  return chunks === undefined ? bytes : Buffer.concat([pngSignature, ...chunks.filter(({ type }) => !pngMetadata.has(type)).map(({ whole }) => whole)])
}

function stripWebp (bytes: Buffer): Buffer {
  const chunks = webpChunks(bytes)
  if (chunks === undefined) return bytes
  const kept = chunks.filter(({ type }) => type !== 'EXIF' && type !== 'XMP ').map(withoutFlags)
  const body = Buffer.concat(kept)
  const header = Buffer.from(bytes.subarray(0, 12))
  header.writeUInt32LE(body.length + 4, 4)
  return Buffer.concat([header, body])
}

/** The extended header says which of them are there. */
function withoutFlags ({ type, whole }: WebpChunk): Buffer {
  if (type !== 'VP8X') return whole
  const copy = Buffer.from(whole)
  copy[8] = (copy[8] ?? 0) & ~0x0c
  return copy
}
