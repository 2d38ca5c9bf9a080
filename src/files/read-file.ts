import { UnreadableFile, type FileFacts, type StoredFile } from './file.ts'
import { imageSize } from './image-size.ts'
import { jsonFacts, jsonlFacts } from './read-json.ts'
import { tableFacts } from './read-table.ts'
import { stripMetadata } from './strip-metadata.ts'
import { decodeText } from './text-encoding.ts'

export type ReadResult =
  | { readonly kind: 'text', readonly text: string, readonly facts: FileFacts }
  /** `bytes` replace the uploaded ones. */
  | { readonly kind: 'image', readonly bytes: Buffer, readonly facts: FileFacts }

/** Reads a file as what it is. Throws UnreadableFile where the file is at fault. */
export function readFile (bytes: Buffer, { kind, mediaType }: Pick<StoredFile, 'kind' | 'mediaType'>): ReadResult {
  if (kind === 'image') {
    const { width, height } = imageSize(bytes, mediaType)
    return { kind: 'image', bytes: stripMetadata(bytes, mediaType), facts: { width, height } }
  }
  const { text, encoding } = decodeText(bytes)
  if (text.trim() === '') throw new UnreadableFile('empty', 'The file is empty.')
  return { kind: 'text', text, facts: { encoding, characters: text.length, ...factsOf(text, kind, mediaType) } }
}

function factsOf (text: string, kind: Exclude<StoredFile['kind'], 'image'>, mediaType: string): FileFacts {
  switch (kind) {
    case 'text': return { lines: text.replace(/(\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/).length }
    case 'csv': return tableFacts(text, mediaType)
    case 'json': return jsonFacts(text)
    case 'jsonl': return jsonlFacts(text)
    default: return kind satisfies never
  }
}
