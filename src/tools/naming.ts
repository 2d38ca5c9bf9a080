import { createHash } from 'node:crypto'

const legal = /^[a-zA-Z0-9_-]{1,64}$/
const maxLength = 64

/** Names as providers accept them (^[a-zA-Z0-9_-]{1,64}$), unique in the set, in the order given; the same set gives the same names. */
export function providerNames (names: readonly string[]): Map<string, string> {
  const taken = new Set(names.filter((name) => legal.test(name)))
  const result = new Map<string, string>()
  for (const name of names) {
    if (result.has(name)) continue
    const mapped = legal.test(name) ? name : unusedName(name, taken)
    taken.add(mapped)
    result.set(name, mapped)
  }
  return result
}

/** A legal name for a tool that is no longer offered, so that history may still mention it. */
export function legalName (name: string): string {
  return legal.test(name) ? name : unusedName(name, new Set())
}

function unusedName (name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^_+|_+$/g, '') || 'tool'
  if (plain.length <= maxLength && !taken.has(plain)) return plain
  const hash = createHash('sha256').update(name).digest('hex')
  for (let length = 6; ; length += 2) {
    const suffix = `_${hash.slice(0, length)}`
    const candidate = plain.slice(0, maxLength - suffix.length) + suffix
    if (!taken.has(candidate)) return candidate
  }
}
