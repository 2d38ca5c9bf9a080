import { UnreadableFile, type FileFacts } from './file.ts'
import { jsonFault } from './json-syntax.ts'
import { lineEnds, linesOf } from './lines.ts'

/**
 * Checks JSON without keeping what it says: the text itself is what is stored, so that no number loses its digits. Lines
 * of JSON under the name of a JSON file are taken for what they are.
 */
export function jsonFacts (text: string): FileFacts {
  const fault = jsonFault(text)
  if (fault === undefined) return {}
  const { faultyLine, records } = recordsIn(text)
  if (faultyLine === undefined && records > 1) return { records, note: 'The file has one JSON value on each line, not one for all.' }
  throw new UnreadableFile('invalid_json', `The file is not valid JSON: there is a fault in line ${lineEnds(text, fault) + 1}.`)
}

/** One JSON value on each line; blank lines do not count. */
export function jsonlFacts (text: string): FileFacts {
  const { faultyLine, records } = recordsIn(text)
  if (faultyLine !== undefined) throw new UnreadableFile('invalid_jsonl', `Line ${faultyLine} is not valid JSON.`)
  return { records }
}

function recordsIn (text: string): { faultyLine: number | undefined, records: number } {
  let records = 0
  let number = 0
  for (const line of linesOf(text)) {
    number++
    if (line.trim() === '') continue
    if (jsonFault(line) !== undefined) return { faultyLine: number, records }
    records++
  }
  return { faultyLine: undefined, records }
}
