import type { FileFacts } from './file.ts'

const delimiters = [',', ';', '\t', '|'] as const
// Rows that are looked at to find the delimiter.
const sampleRows = 20
const sampleCharacters = 65_536

/**
 * What a table of separated values holds: the names of its columns, and how many rows follow them. Quoted fields may
 * hold delimiters, quotes and line ends (RFC 4180).
 */
export function tableFacts (text: string, mediaType: string): FileFacts {
  const delimiter = mediaType === 'text/tab-separated-values' ? '\t' : delimiterOf(text)
  let columns: readonly string[] = []
  let rows = -1
  let uneven = 0
  for (const row of rowsOf(text, delimiter)) {
    if (rows++ === -1) columns = row.map((field) => field.trim())
    else if (row.length !== columns.length) uneven++
  }
  const note = uneven === 0 ? {} : { note: `${uneven} of ${rows} rows have another number of fields than the header.` }
  return { rows: Math.max(rows, 0), columns: columns.slice(0, 200).map((column) => column.slice(0, 200)), delimiter, ...note }
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

/** Rows that are not blank. */
function * rowsOf (text: string, delimiter: string): Generator<string[], void> {
  let row: string[] = []
  let field = ''
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (quoted) {
      if (char !== '"') field += char
      else if (text[index + 1] === '"') { field += '"'; index++ } else quoted = false
    } else if (char === '"' && field === '') {
      quoted = true
    } else if (char === delimiter) {
      row.push(field)
      field = ''
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[index + 1] === '\n') index++
      row.push(field)
      if (row.length > 1 || field.trim() !== '') yield row
      row = []
      field = ''
    } else {
      field += char
    }
  }
  row.push(field)
  if (row.length > 1 || field.trim() !== '') yield row
}
