import t from 'tap'
import { UnreadableFile } from '../../../src/files/file.ts'
import { decodeText, looksBinary } from '../../../src/files/text-encoding.ts'
import { fixture } from '../../helpers/uploads.ts'

const bytes = (...values: readonly number[]) => Buffer.from(values)
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')

const read: ReadonlyArray<readonly [name: string, bytes: Buffer, encoding: string, text: string]> = [
  ['UTF-8', Buffer.from('Grüße 日本 😀'), 'utf-8', 'Grüße 日本 😀'],
  ['UTF-8 with a mark', Buffer.from('\ufeffid,name'), 'utf-8', 'id,name'],
  ['UTF-16 with a mark', utf16('\ufeffid,näme'), 'utf-16le', 'id,näme'],
  ['big-endian UTF-16 with a mark', utf16('\ufeff日本,1').swap16(), 'utf-16be', '日本,1'],
  ['UTF-16 without a mark', utf16('id,name\n1,two\n'), 'utf-16le', 'id,name\n1,two\n'],
  ['big-endian UTF-16 without a mark', utf16('id,name\n1,two\n').swap16(), 'utf-16be', 'id,name\n1,two\n'],
  ['a little Windows-1252', latin1('name;price\r\ncaf\xe9;3\x80\r\n'), 'windows-1252', 'name;price\r\ncafé;3€\r\n'],
  ['French Windows-1252', latin1('L\x92\xe9t\xe9 dernier, nous avons visit\xe9 le ch\xe2teau o\xf9 vivait la princesse.'), 'windows-1252', 'L’été dernier, nous avons visité le château où vivait la princesse.'],
  ['Shift-JIS', bytes(0x96, 0x7b, 0x93, 0xfa, 0x82, 0xcd, 0x90, 0xb0, 0x93, 0x56), 'shift_jis', '本日は晴天'],
  ['GB18030', bytes(0xbd, 0xf1, 0xcc, 0xec, 0xcc, 0xec, 0xc6, 0xf8, 0xba, 0xdc, 0xba, 0xc3), 'gb18030', '今天天气很好']
]
for (const [name, given, encoding, text] of read) {
  t.test(`${name} is read as what it says`, async (t) => {
    t.strictSame(decodeText(given), { encoding, text })
  })
}

const refused: ReadonlyArray<readonly [name: string, bytes: Buffer]> = [
  ['Cyrillic KOI8-R', bytes(0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, 0x20, 0xcd, 0xc9, 0xd2, 0x2c, 0x20, 0xcb, 0xc1, 0xcb, 0x20, 0xc4, 0xc5, 0xcc, 0xc1)],
  ['Cyrillic Windows-1251', bytes(0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0, 0x2c, 0x20, 0xea, 0xe0, 0xea, 0x20, 0xe4, 0xe5, 0xeb, 0xe0)],
  ['Korean EUC-KR', bytes(0xbe, 0xc8, 0xb3, 0xe7, 0xc7, 0xcf, 0xbc, 0xbc, 0xbf, 0xe4, 0x20, 0xb0, 0xa1, 0xb0, 0xdd)],
  ['Japanese EUC-JP', bytes(0xbe, 0xa6, 0xc9, 0xca, 0xcc, 0xbe, 0xa1, 0xa2, 0xa4, 0xea, 0xa4, 0xf3, 0xa4, 0xb4)],
  ['high bytes without sense', Buffer.from(Array.from({ length: 300 }, (_, index) => 128 + ((index * 73 + index * index) % 120)))]
]
for (const [name, given] of refused) {
  t.test(`${name} is refused rather than read wrongly`, async (t) => {
    t.equal(faultOf(given), 'encoding_unknown')
  })
}

t.test('NUL characters in a text are left out, and bytes of no text are told apart', async (t) => {
  t.equal(decodeText(await fixture('nul_inside.txt')).text, 'beforeafter\nsecond line\n')
  t.equal(faultOf(Buffer.from('ab\0\x01\x02\x03cd')), 'binary')
  t.equal(looksBinary(await fixture('binary_as.txt')), true)
  t.equal(looksBinary(Buffer.from('\x1b[31mred\x1b[0m\tand\f\r\n')), false)
})

function faultOf (given: Buffer): string {
  try {
    return `read as ${decodeText(given).encoding}`
  } catch (error) {
    return error instanceof UnreadableFile ? error.fault.code : String(error)
  }
}
