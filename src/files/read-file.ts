import { UnreadableFile, type FileFacts, type StoredFile } from './file.ts'
import { imageSize } from './image-size.ts'
import { lineEnds } from './lines.ts'
import { jsonFacts, jsonlFacts } from './read-json.ts'
import { tableFacts } from './read-table.ts'
import { stripMetadata } from './strip-metadata.ts'
import { decodeText } from './text-encoding.ts'

/** Of an image its bytes without what cameras add, of anything else its text in UTF-8. */
export interface ReadFile { readonly bytes: Buffer, readonly facts: FileFacts }

/** Reads a file as what it is; for as long as that takes nothing else happens in its thread. Throws UnreadableFile where the file is at fault. */
export function readFile (bytes: Buffer, { kind, mediaType }: Pick<StoredFile, 'kind' | 'mediaType'>): ReadFile {
  if (kind === 'image') {
    const { width, height } = imageSize(bytes, mediaType)
    return { bytes: stripMetadata(bytes, mediaType), facts: { width, height } }
  }
  const { text, encoding } = decodeText(bytes)
  if (text.trim() === '') throw new UnreadableFile('empty', 'The file is empty.')
  return { bytes: Buffer.from(text), facts: { encoding, characters: text.length, ...factsOf(text, kind, mediaType) } }
}

function factsOf (text: string, kind: Exclude<StoredFile['kind'], 'image'>, mediaType: string): FileFacts {
  switch (kind) {
    case 'text': return { lines: lineEnds(text) + (/[\r\n]$/.test(text) ? 0 : 1) }
    case 'csv': return tableFacts(text, mediaType)
    case 'json': return jsonFacts(text)
    case 'jsonl': return jsonlFacts(text)
    default: return kind satisfies never
  }
}
