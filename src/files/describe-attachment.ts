import type { FileFacts, StoredFile } from './file.ts'

export interface Shown {
  /** As much of the file's text as there is room for. */
  readonly text: string | undefined
  /** Whether the model sees the image itself. */
  readonly isShown: boolean
}

/** A file in words for a model: what it is, how it is called, and its text where there is room. */
export function describeAttachment (file: StoredFile, { text, isShown }: Shown): string {
  const { name, mediaType, size, id } = file
  const about = [mediaType, `${size} bytes`, `id ${id}`, ...factsIn(file.facts)].join(', ')
  const line = `Attached file "${name}" (${about})`
  switch (file.status) {
    case 'pending': case 'processing': return `[${line}: it is still being read.]`
    case 'cancelled': return `[${line}: reading it was cancelled.]`
    case 'failed': return `[${line}: it could not be read. ${file.error?.message ?? ''}]`
    case 'completed': break
    default: return file.status satisfies never
  }
  if (file.kind === 'image') return isShown ? `[${line}]` : `[${line}: an image that is not shown to you.]`
  if (text === undefined) return `[${line}: its text is not shown here.]`
  const { characters = text.length } = file.facts
  const cut = text.length < characters ? `[Cut: these are the first ${text.length} of ${characters} characters of "${name}".]` : `[End of "${name}"]`
  return `[${line}: its text follows.]\n${text}\n${cut}`
}

function factsIn ({ rows, columns, records, width, height, note }: FileFacts): string[] {
  return [
    ...width === undefined || height === undefined ? [] : [`${width} x ${height} pixels`],
    ...rows === undefined ? [] : [`${rows} rows`],
    ...columns === undefined ? [] : [`columns: ${columns.slice(0, 50).join(' | ')}`],
    ...records === undefined ? [] : [`${records} records`],
    ...note === undefined ? [] : [note]
  ]
}
