import chardet from 'chardet'

// Japanese and Chinese share their byte ranges, and detection by statistics needs more text than a small table has. What
// tells them apart is which of the characters are everyday ones when read either way.
const surely = 0.7
const clearly = 0.2

interface Reading {
  /** Characters beyond ASCII, and how many of them are everyday ones. */
  total: number
  everyday: number
  kana: number
  /** Beyond where all of Korean writing ends in the same range. */
  beyondHangul: number
  valid: boolean
}

/** Shift-JIS or GB18030, where one of them reads well and the other does not. */
export function eastAsianEncoding (sample: Uint8Array): 'shift_jis' | 'gb18030' | undefined {
  const japanese = readShiftJis(sample)
  const chinese = readGb(sample)
  const [asJapanese, asChinese] = [shareOf(japanese), shareOf(chinese)]
  if (asJapanese >= surely && asJapanese - asChinese >= clearly) return 'shift_jis'
  if (asChinese < surely || asChinese - asJapanese < clearly || !isChinese(chinese)) return undefined
  // Russian in KOI8-R reads as everyday Chinese.
  return /^(KOI8-R|windows-1251|ISO-8859-5|EUC-(KR|JP))$/.test(likeliest(sample)) ? undefined : 'gb18030'
}

/** Not Korean, nor Japanese as Unix wrote it: both are laid out like Chinese. */
function isChinese ({ total, kana, beyondHangul }: Reading): boolean {
  return kana <= total / 20 && beyondHangul > 0
}

function likeliest (sample: Uint8Array): string {
  const [best] = chardet.analyse(sample)
  return best !== undefined && best.confidence >= 30 ? best.name : ''
}

function shareOf ({ valid, total, everyday }: Reading): number {
  return valid && total > 0 ? everyday / total : 0
}

function readShiftJis (sample: Uint8Array): Reading {
  const reading: Reading = { total: 0, everyday: 0, kana: 0, beyondHangul: 0, valid: true }
  for (let index = 0; index < sample.length; index++) {
    const lead = sample[index] ?? 0
    if (lead < 0x80) continue
    reading.total++
    if (lead >= 0xa1 && lead <= 0xdf) continue // narrow katakana: rare, and most of what other encodings look like
    const trail = sample[++index]
    if (trail === undefined) break // cut off by the end of the sample
    if (trail < 0x40 || trail === 0x7f || trail > 0xfc) reading.valid = false
    // Punctuation, letters and kana, and the kanji that are taught first.
    if ((lead >= 0x81 && lead <= 0x83) || (lead >= 0x88 && lead <= 0x98)) reading.everyday++
  }
  return reading
}

function readGb (sample: Uint8Array): Reading {
  const reading: Reading = { total: 0, everyday: 0, kana: 0, beyondHangul: 0, valid: true }
  for (let index = 0; index < sample.length; index++) {
    const lead = sample[index] ?? 0
    if (lead < 0x80) continue
    reading.total++
    const trail = sample[++index]
    if (trail === undefined) break // cut off by the end of the sample
    if (trail >= 0x30 && trail <= 0x39) index += 2
    else if (trail < 0x40 || trail === 0x7f || trail === 0xff) reading.valid = false
    if (trail < 0xa1) continue
    // Punctuation, full-width letters, and the hanzi of the first level.
    if (lead === 0xa1 || lead === 0xa3 || (lead >= 0xb0 && lead <= 0xd7)) reading.everyday++
    if (lead === 0xa4 || lead === 0xa5) reading.kana++
    if (lead >= 0xc9 && lead <= 0xd7) reading.beyondHangul++
  }
  return reading
}
