import type { FileKind } from './file.ts'

/** A type of file that can be read. */
export interface AcceptedType {
  readonly mediaType: string
  readonly kind: FileKind
  /** The first is the usual one. */
  readonly extensions: readonly string[]
  /** Other names that senders declare it by. */
  readonly declaredAs: readonly string[]
}

export const acceptedTypes: readonly AcceptedType[] = [
  { mediaType: 'text/plain', kind: 'text', extensions: ['txt', 'text'], declaredAs: [] },
  { mediaType: 'text/markdown', kind: 'text', extensions: ['md', 'markdown'], declaredAs: ['text/x-markdown'] },
  { mediaType: 'text/csv', kind: 'csv', extensions: ['csv'], declaredAs: ['application/csv', 'text/x-csv'] },
  { mediaType: 'text/tab-separated-values', kind: 'csv', extensions: ['tsv'], declaredAs: [] },
  { mediaType: 'application/json', kind: 'json', extensions: ['json'], declaredAs: ['text/json'] },
  { mediaType: 'application/jsonl', kind: 'jsonl', extensions: ['jsonl', 'ndjson'], declaredAs: ['application/x-ndjson', 'application/x-jsonlines', 'application/json-lines'] },
  { mediaType: 'image/png', kind: 'image', extensions: ['png'], declaredAs: [] },
  { mediaType: 'image/jpeg', kind: 'image', extensions: ['jpg', 'jpeg'], declaredAs: ['image/jpg'] },
  { mediaType: 'image/webp', kind: 'image', extensions: ['webp'], declaredAs: [] },
  { mediaType: 'image/gif', kind: 'image', extensions: ['gif'], declaredAs: [] }
]

/** Those of the accepted types that a deployment allows, by any of their extensions; all when it says nothing. Throws on an extension of no type. */
export function allowedTypes (extensions: readonly string[] | undefined): readonly AcceptedType[] {
  if (extensions === undefined) return acceptedTypes
  const wanted = extensions.map((extension) => extension.replace(/^\./, '').toLowerCase())
  const unknown = wanted.find((extension) => !acceptedTypes.some((type) => type.extensions.includes(extension)))
  if (unknown !== undefined) throw new RangeError(`ALLOWED_FILES: "${unknown}" cannot be read; expected some of ${extensionsOf(acceptedTypes).join(', ')}`)
  return acceptedTypes.filter((type) => type.extensions.some((extension) => wanted.includes(extension)))
}

export function extensionsOf (types: readonly AcceptedType[]): readonly string[] {
  return types.flatMap((type) => type.extensions)
}
