import { assertPartsAreFew } from './image-parts.ts'

export interface JpegSegment {
  readonly marker: number
  /** Without marker and length. */
  readonly data: Buffer
  /** Its place in the file, marker and length included. */
  readonly start: number
  readonly end: number
}

const startOfScan = 0xda

/**
 * The segments of a JPEG before its image data, the start of which is the last one; undefined where there is none, or
 * where the file ends before the image does. Throws UnreadableFile for too many.
 */
export function jpegSegments (bytes: Buffer): readonly JpegSegment[] | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined
  const segments: JpegSegment[] = []
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) { at++; continue } // filling
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    if (end > bytes.length || end < at + 4) return undefined
    segments.push({ marker, data: bytes.subarray(at + 4, end), start: at, end })
    assertPartsAreFew(segments)
    if (marker === startOfScan) return hasEnd(bytes, end) ? segments : undefined
    at = end
  }
  return undefined
}

/** What cameras add after the image may be there too. */
function hasEnd (bytes: Buffer, from: number): boolean {
  return bytes.indexOf(Buffer.from([0xff, 0xd9]), from) !== -1
}
