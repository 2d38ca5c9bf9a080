import { UnreadableFile, type FileFacts } from './file.ts'

/**
 * Checks JSON without keeping what it says: the text itself is what is stored, so that no number loses its digits. Lines
 * of JSON under the name of a JSON file are taken for what they are.
 */
export function jsonFacts (text: string): FileFacts {
  if (isJson(text)) return {}
  const lines = lineFault(text)
  if (lines.fault === undefined && lines.records > 1) return { records: lines.records, note: 'The file has one JSON value on each line, not one for all.' }
  throw new UnreadableFile('invalid_json', `The file is not valid JSON: there is a fault in line ${faultyLine(text)}.`)
}

/** One JSON value on each line; blank lines do not count. */
export function jsonlFacts (text: string): FileFacts {
  const { fault, records } = lineFault(text)
  if (fault !== undefined) throw new UnreadableFile('invalid_jsonl', `Line ${fault} is not valid JSON.`)
  return { records }
}

function lineFault (text: string): { fault: number | undefined, records: number } {
  let records = 0
  let number = 0
  for (const line of text.split(/\r\n|\r|\n/)) {
    number++
    if (line.trim() === '') continue
    if (!isJson(line)) return { fault: number, records }
    records++
  }
  return { fault: undefined, records }
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // which is the answer
  }
}

/**
 * The first line after which the text cannot become JSON any more. Found by halving, because the parser does not say
 * where every kind of fault is.
 */
function faultyLine (text: string): number {
  const ends = [...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)
  if (ends.at(-1) !== text.length) ends.push(text.length)
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBeginning(text.slice(0, ends[middle]))) low = middle + 1
    else high = middle
  }
  return low + 1
}

/** Whether more text could make JSON of this. */
function isBeginning (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const position = /at position (\d+)/.exec(message)?.[1]
    return /end of JSON input|Unterminated/.test(message) || Number(position ?? -1) >= text.length
  }
}
