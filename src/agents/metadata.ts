import { z } from 'zod'
import { frozen } from './frozen.ts'

/** What tools and hooks are told beside what they are called with; no model is. */
export type Metadata = Readonly<Record<string, unknown>>

/** As a definition gives it: a copy that no tool of one run can change for the others. */
export const metadataSchema = z.custom<Metadata>(isMetadata, 'expected an object of JSON values').transform((given) => frozen(structuredClone(given)))

/** Whether it is a plain object of nothing but JSON. */
export function isMetadata (value: unknown): value is Metadata {
  return isPlain(value) && isJson(value, [])
}

/** Its own keys go over those it was given from above. */
export function extended (inherited: Metadata, own: Metadata | undefined): Metadata {
  // By spreading, which defines keys and sets none: `__proto__` is a key like any other.
  return own === undefined ? inherited : { ...inherited, ...own }
}

/** `above` are the objects it is in: one that holds itself is no JSON. */
function isJson (value: unknown, above: readonly unknown[]): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (above.includes(value)) return false
  if (Array.isArray(value)) return value.every((inner) => isJson(inner, [...above, value]))
  return isPlain(value) && Object.values(value).every((inner) => isJson(inner, [...above, value]))
}

function isPlain (value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
