/** How much of one file of a skill a model may be given, in bytes: some 60,000 tokens. */
export const maxSkillBytes = 262_144

/** Bytes as UTF-8 text, without a byte order mark; undefined for what is no text. */
export function decodeText (bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // not UTF-8
  }
}
