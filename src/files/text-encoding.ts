import chardet from 'chardet'
import { UnreadableFile } from './file.ts'
import { eastAsianEncoding } from './east-asian.ts'

export interface DecodedText { readonly text: string, readonly encoding: string }

const sampleBytes = 65_536

/**
 * The text of a file in any of the encodings we are sure about: UTF-8 and UTF-16 with or without a mark, Shift-JIS,
 * GB18030 and Windows-1252. Anything else is UnreadableFile: wrong characters would be worse than none. NUL characters,
 * which databases refuse, are removed.
 */
export function decodeText (bytes: Uint8Array): DecodedText {
  if (looksBinary(bytes.subarray(0, sampleBytes))) throw new UnreadableFile('binary', 'The content is not text.')
  const decoded = decodeSurely(bytes)
  if (decoded === undefined) throw new UnreadableFile('encoding_unknown', 'The character encoding cannot be told with certainty. Save the file as UTF-8 and upload it again.')
  const { text, encoding } = decoded
  return { encoding, text: text.includes('\0') ? text.replace(/\0+/g, '') : text }
}

/** Whether these are bytes of no text: control characters, unless they are halves of UTF-16. */
export function looksBinary (bytes: Uint8Array): boolean {
  if (bytes.length === 0 || utf16Of(bytes) !== undefined) return false
  let nuls = 0
  let controls = 0
  for (const byte of bytes) {
    if (byte === 0) nuls++
    else if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) controls++
  }
  return controls > bytes.length / 50 || nuls > bytes.length / 10
}

/** Decoded once, since it may be long; undefined where nothing is sure. */
function decodeSurely (bytes: Uint8Array): DecodedText | undefined {
  const utf16 = utf16Of(bytes)
  if (utf16 !== undefined) return decodeAs(bytes, utf16)
  const sample = bytes.subarray(0, sampleBytes)
  return decodeAs(bytes, 'utf-8') ?? decodeAs(bytes, eastAsianEncoding(sample) ?? westernEncoding(sample))
}

function decodeAs (bytes: Uint8Array, encoding: string | undefined): DecodedText | undefined {
  const text = encoding === undefined ? undefined : decode(bytes, encoding)
  return encoding === undefined || text === undefined ? undefined : { text, encoding }
}

/** By its mark, or by where its NUL bytes are: every second byte of mostly Latin text. */
function utf16Of (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const sample = bytes.subarray(0, sampleBytes)
  if (sample.length < 8) return undefined
  const nuls = [0, 0]
  for (let index = 0; index < sample.length; index++) if (sample[index] === 0) nuls[index % 2]!++ // index % 2 is 0 or 1
  const [even = 0, odd = 0] = nuls
  const many = sample.length * 0.3
  if (odd > many && even < odd / 20) return 'utf-16le'
  return even > many && odd < even / 20 ? 'utf-16be' : undefined
}

/** Windows-1252, where nothing else that is about as likely would read other characters. */
function westernEncoding (sample: Uint8Array): string | undefined {
  const [best, second] = chardet.analyse(sample)
  if (best === undefined || best.confidence < 25 || !/^(windows-1252|ISO-8859-1)$/.test(best.name)) return undefined
  const text = decode(sample, 'windows-1252')
  if (text === undefined || /[\u0080-\u009f]/.test(text) || !isMostlyAscii(sample)) return undefined
  const rival = second !== undefined && second.confidence >= best.confidence * 0.8 ? decode(sample, second.name) : undefined
  return rival !== undefined && rival !== text ? undefined : 'windows-1252'
}

/** Words of western languages have few letters beyond ASCII. */
function isMostlyAscii (sample: Uint8Array): boolean {
  return sample.filter((byte) => byte >= 0x80).length < sample.length * 0.3
}

// What bytes 0x80 to 0x9f are; a space where there is nothing.
const western = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

/** Byte by byte: each is one character. */
function decodeWestern (bytes: Uint8Array): string {
  const characters = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]! // inside of it
    const special = byte >= 0x80 && byte <= 0x9f ? western[byte - 0x80]?.trim() ?? '' : ''
    characters[at] = special === '' ? byte : special.charCodeAt(0)
  }
  return Buffer.from(characters.buffer).toString('utf16le')
}

function decode (bytes: Uint8Array, encoding: string): string | undefined {
  // Not by TextDecoder: in Node 20 it takes Windows-1252 for Latin-1.
  if (encoding === 'windows-1252') return decodeWestern(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    // Not in this encoding, or one that is not known here: no text either way.
    return undefined
  }
}
