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
  const encoding = encodingOf(bytes)
  const text = encoding === undefined ? undefined : decode(bytes, encoding)
  if (encoding === undefined || text === undefined) throw new UnreadableFile('encoding_unknown', 'The character encoding cannot be told with certainty. Save the file as UTF-8 and upload it again.')
  return { encoding, text: text.replaceAll('\0', '') }
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

function encodingOf (bytes: Uint8Array): string | undefined {
  const utf16 = utf16Of(bytes)
  if (utf16 !== undefined) return utf16
  if (decode(bytes, 'utf-8') !== undefined) return 'utf-8'
  const sample = bytes.subarray(0, sampleBytes)
  return eastAsianEncoding(sample) ?? westernEncoding(sample)
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

function decode (bytes: Uint8Array, encoding: string): string | undefined {
  // Not by TextDecoder: in Node 20 it takes Windows-1252 for Latin-1.
  if (encoding === 'windows-1252') return Buffer.from(bytes).toString('latin1').replace(/[\x80-\x9f]/g, (char) => western[char.charCodeAt(0) - 0x80]?.trim() || char)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    // Not in this encoding, or one that is not known here: no text either way.
    return undefined
  }
}
