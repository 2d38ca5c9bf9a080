/** Text as every database takes it: without NUL, which PostgreSQL refuses, and without halves of surrogate pairs. */
export function storable (text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** Text as search compares it, on both sides: one spelling of every letter, whatever the case. */
export function searchable (text: string): string {
  return storable(text).normalize('NFC').toLowerCase().replaceAll('ς', 'σ')
}
