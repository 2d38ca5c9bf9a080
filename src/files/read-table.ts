import type { FileFacts } from './file.ts'

const delimiters = [',', ';', '\t', '|'] as const
// Rows that are looked at to find the delimiter.
const sampleRows = 20
const sampleCharacters = 65_536
// Of each row; a line of nothing but delimiters has millions.
const keptFields = 200

/**
 * What a table of separated values holds: the names of its columns, and how many rows follow them. Quoted fields may
 * hold delimiters, quotes and line ends (RFC 4180).
 */
export function tableFacts (text: string, mediaType: string): FileFacts {
  const delimiter = mediaType === 'text/tab-separated-values' ? '\t' : delimiterOf(text)
  let header: Row = { length: 0, fields: [] }
  let rows = -1
  let uneven = 0
  for (const row of rowsOf(text, delimiter)) {
    if (rows++ === -1) header = row
    else if (row.length !== header.length) uneven++
  }
  const note = uneven === 0 ? {} : { note: `${uneven} of ${rows} rows have another number of fields than the header.` }
  return { rows: Math.max(rows, 0), columns: header.fields.map((column) => column.trim().slice(0, 200)), delimiter, ...note }
}

/** The one that gives the most fields in all of the first rows. */
function delimiterOf (text: string): string {
  const sample = text.slice(0, sampleCharacters)
  const scores = delimiters.map((delimiter) => {
    const counts: number[] = []
    for (const row of rowsOf(sample, delimiter)) {
      counts.push(row.length)
      if (counts.length === sampleRows) break
    }
    const complete = counts.length > 1 && counts.length < sampleRows ? counts.slice(0, -1) : counts // the sample may end inside the last one
    return { delimiter, least: Math.min(...complete) }
  })
  return scores.reduce((best, score) => score.least > best.least ? score : best).delimiter
}

interface Row {
  /** How many fields it has, of which the first are kept. */
  readonly length: number
  readonly fields: readonly string[]
}

/** Rows that are not blank. Runs of plain characters are taken as they are, so that a field of any length is cheap. */
function * rowsOf (text: string, delimiter: string): Generator<Row, void> {
  const special = new RegExp(`["\\r\\n${delimiter}]`, 'g')
  let fields: string[] = []
  let length = 0
  let field = ''
  let at = 0

  while (at < text.length) {
    special.lastIndex = at
    const next = special.exec(text)?.index ?? text.length
    field += text.slice(at, next)
    const char = text[next]
    at = next + 1
    if (char === '"' && field === '') {
      const quoted = quotedField(text, at)
      field = quoted.value
      at = quoted.end
    } else if (char === '"') {
      field += char
    } else if (char !== undefined) {
      endField()
      if (char === delimiter) continue
      if (char === '\r' && text[at] === '\n') at++
      yield * ended()
    }
  }
  endField()
  yield * ended()

  function endField (): void {
    if (fields.length < keptFields) fields.push(field)
    length++
    field = ''
  }

  function * ended (): Generator<Row, void> {
    if (length > 1 || fields[0]?.trim() !== '') yield { length, fields }
    fields = []
    length = 0
  }
}

/** From behind the opening quote to behind the closing one, or to the end of the text. */
function quotedField (text: string, from: number): { readonly value: string, readonly end: number } {
  let value = ''
  for (let at = from; ;) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return { value: value + text.slice(at), end: text.length }
    value += text.slice(at, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    at = quote + 2
  }
}
