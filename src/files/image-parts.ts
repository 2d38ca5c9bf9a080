import { UnreadableFile } from './file.ts'

// A thousand times as many as any program writes; each costs far more memory than the few bytes it can have in the file.
const maxParts = 100_000

/** Throws UnreadableFile for an image that is cut into more parts than one has. */
export function assertPartsAreFew (parts: readonly unknown[]): void {
  if (parts.length > maxParts) throw new UnreadableFile('too_complex', `The image has more than ${maxParts} parts.`)
}
