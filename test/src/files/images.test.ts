import { crc32 } from 'node:zlib'
import t from 'tap'
import { UnreadableFile } from '../../../src/files/file.ts'
import { imageSize } from '../../../src/files/image-size.ts'
import { stripMetadata } from '../../../src/files/strip-metadata.ts'
import { fixture } from '../../helpers/uploads.ts'

const u16 = (value: number) => Buffer.from([value >> 8, value & 255])
const u32le = (value: number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value); return bytes }
const segment = (marker: number, data: Buffer) => Buffer.concat([Buffer.from([0xff, marker]), u16(data.length + 2), data])
const frame = segment(0xc0, Buffer.from([8, 0, 3, 0, 5, 1, 1, 0x11, 0]))
const scan = Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd9])])
const jfif = segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'))
/** Orientation 6, and a place as a camera writes it. */
const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0', 'latin1'), Buffer.from('GPS 48.85N')]))
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8]), jfif, exif, segment(0xed, Buffer.from('Photoshop Paris')), segment(0xfe, Buffer.from('a comment')), frame, scan])

const pngChunk = (type: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = [Buffer.alloc(4), Buffer.alloc(4)] as const
  ends[0].writeUInt32BE(data.length)
  ends[1].writeUInt32BE(crc32(body))
  return Buffer.concat([ends[0], body, ends[1]])
}
const riff = (...chunks: ReadonlyArray<readonly [string, Buffer]>) => {
  const body = Buffer.concat(chunks.map(([type, data]) => Buffer.concat([Buffer.from(type), u32le(data.length), data, Buffer.alloc(data.length % 2)])))
  return Buffer.concat([Buffer.from('RIFF'), u32le(body.length + 4), Buffer.from('WEBP'), body])
}
const vp8 = Buffer.from([0, 0, 0, 0x9d, 0x01, 0x2a, 5, 0, 3, 0])
const webp = riff(['VP8X', Buffer.from([0x0c, 0, 0, 0, 4, 0, 0, 2, 0, 0])], ['VP8 ', vp8], ['EXIF', Buffer.from('GPS')], ['XMP ', Buffer.from('GPS!')])
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

t.test('an image of more parts than one has is refused before they are all taken', async (t) => {
  const many = <T>(part: T) => Array.from({ length: 100_001 }, () => part)
  const images = {
    'image/png': Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...many(pngChunk('tEXt', Buffer.alloc(0)))]),
    'image/jpeg': Buffer.concat([Buffer.from([0xff, 0xd8]), ...many(segment(0xfe, Buffer.alloc(0))), frame, scan]),
    'image/webp': riff(...many(['EXIF', Buffer.alloc(0)] as const))
  }
  for (const [mediaType, bytes] of Object.entries(images)) t.throws(() => imageSize(bytes, mediaType), { name: 'UnreadableFile', fault: { code: 'too_complex' } }, mediaType)
})

t.test('the size of a whole image is read', async (t) => {
  t.strictSame(imageSize(await fixture('png_named.jpg'), 'image/png'), { width: 2, height: 2 })
  t.strictSame(imageSize(jpeg, 'image/jpeg'), { width: 5, height: 3 })
  t.strictSame(imageSize(webp, 'image/webp'), { width: 5, height: 3 })
  t.strictSame(imageSize(riff(['VP8 ', vp8]), 'image/webp'), { width: 5, height: 3 })
  t.strictSame(imageSize(riff(['VP8L', Buffer.from([0x2f, 0x04, 0x80, 0x00, 0, 0, 0, 0, 0, 0])]), 'image/webp'), { width: 5, height: 3 })
  t.strictSame(imageSize(gif, 'image/gif'), { width: 1, height: 1 })
})

t.test('an image is damaged wherever it is cut off', async (t) => {
  const whole = [['image/png', await fixture('png_named.jpg')], ['image/jpeg', jpeg], ['image/webp', webp], ['image/gif', gif]] as const
  for (const [mediaType, bytes] of whole) {
    for (let length = 0; length < bytes.length; length++) t.equal(faultOf(bytes.subarray(0, length), mediaType), 'broken', `${mediaType} of ${length} bytes`)
  }
  const flipped = Buffer.from(await fixture('png_named.jpg'))
  flipped[45]! ^= 1 // it is longer than that
  t.equal(faultOf(flipped, 'image/png'), 'broken', 'a checksum that is wrong')
})

t.test('an image that claims to be enormous is too complex', async (t) => {
  const png = await fixture('png_named.jpg')
  const header = Buffer.from(png.subarray(16, 29))
  header.writeUInt32BE(50_000, 0)
  header.writeUInt32BE(50_000, 4)
  t.equal(faultOf(Buffer.concat([png.subarray(0, 8), pngChunk('IHDR', header), png.subarray(33)]), 'image/png'), 'too_complex')
})

t.test('a photo loses its place, device and captions, and still stands upright', async (t) => {
  const stripped = stripMetadata(jpeg, 'image/jpeg')
  t.notMatch(stripped.toString('latin1'), /GPS|Paris|comment/)
  t.strictSame(imageSize(stripped, 'image/jpeg'), { width: 5, height: 3 })
  const at = stripped.indexOf('Exif')
  t.equal(stripped[at + 6 + 10 + 8 + 1], 6, 'which side is up')
  t.ok(stripped.subarray(0, 2 + jfif.length).equals(jpeg.subarray(0, 2 + jfif.length)), 'JFIF comes first')
  t.ok(stripped.subarray(-scan.length).equals(scan), 'the pixels are as they were')
  t.strictSame(stripMetadata(stripped, 'image/jpeg'), stripped)
})

t.test('PNG and WebP images lose their metadata too', async (t) => {
  const png = await fixture('png_named.jpg')
  const noted = Buffer.concat([png.subarray(0, 33), pngChunk('eXIf', Buffer.from('GPS')), pngChunk('iTXt', Buffer.from('XMP GPS')), png.subarray(33)])
  t.strictSame(stripMetadata(noted, 'image/png'), png)
  const stripped = stripMetadata(webp, 'image/webp')
  t.notMatch(stripped.toString('latin1'), /GPS|EXIF|XMP/)
  t.strictSame(imageSize(stripped, 'image/webp'), { width: 5, height: 3 })
  t.equal(stripped[20], 0, 'its header does not speak of them')
  t.strictSame(stripMetadata(gif, 'image/gif'), gif)
})

function faultOf (bytes: Buffer, mediaType: string): string | undefined {
  try {
    imageSize(bytes, mediaType)
    return undefined
  } catch (error) {
    return error instanceof UnreadableFile ? error.fault.code : String(error)
  }
}
