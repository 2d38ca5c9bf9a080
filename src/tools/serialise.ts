/** What a value that JSON cannot hold is replaced by, so that a result is never lost to one odd field. */
const markers = { circular: '[Circular]', deep: '[Too deep]', large: '[Too large]', unreadable: '[Unreadable]' } as const
const maxDepth = 64
// Of one value. What refers to itself twice on each level doubles with every level, and would fill the memory as a copy.
const maxValues = 1_000_000
const maxCharacters = 64_000_000

/** What may still be copied. */
interface Room { values: number, characters: number }

/**
 * A copy that JSON holds without loss or surprise: `undefined` is null, BigInt a string, Date ISO 8601, bytes a base64
 * marker, Map an object, Set an array; cycles, functions and symbols become markers, and so does what is beyond all
 * measure. `toJSON` is honoured. Never throws.
 * Keys that reach a prototype are left out: strict readers refuse a whole document over them.
 */
export function toJsonSafe (value: unknown): unknown {
  return copy(value, [], { values: maxValues, characters: maxCharacters }) ?? null
}

/** The text of a tool's result as a model reads it: strings as they are, everything else as JSON. */
export function serialiseOutput (value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(toJsonSafe(value))
}

/** Keeps the head of a text that is longer than `limit` characters and says how much that was. 0 turns the limit off. */
export function limitText (text: string, limit: number): string {
  if (limit <= 0 || text.length <= limit) return text
  const head = headOf(text, limit)
  return `${head}\n[Cut: ${text.length} characters in all, the first ${head.length} kept]`
}

/** The first `length` characters. Never half a surrogate pair: it would not survive UTF-8. */
export function headOf (text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xD800 && last <= 0xDBFF ? length - 1 : length)
}

function copy (value: unknown, ancestors: readonly object[], room: Room): unknown {
  if (--room.values < 0) return markers.large
  switch (typeof value) {
    case 'string': return fits(value.length, room) ? value : markers.large
    case 'boolean': case 'undefined': return value
    case 'number': return Number.isFinite(value) ? value : null
    case 'bigint': return value.toString()
    case 'function': return `[Function${value.name === '' ? '' : ` ${value.name}`}]`
    case 'symbol': return `[${value.toString()}]`
    case 'object': return value === null ? null : copyObject(value, ancestors, room)
  }
}

function fits (characters: number, room: Room): boolean {
  if (characters > room.characters) return false
  room.characters -= characters
  return true
}

function copyObject (value: object, ancestors: readonly object[], room: Room): unknown {
  if (ancestors.includes(value)) return markers.circular
  if (ancestors.length >= maxDepth) return markers.deep
  const path = [...ancestors, value]
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (value instanceof Uint8Array) return bytes(value, room)
    if (value instanceof ArrayBuffer) return bytes(new Uint8Array(value), room)
    if (value instanceof Error) return { name: value.name, message: value.message }
    if (Array.isArray(value) || value instanceof Set) return fromItems(value, path, room)
    if (value instanceof Map) return fromEntries(Array.from(value, ([key, item]) => [String(key), () => item]), path, room)
    if ('toJSON' in value && typeof value.toJSON === 'function') return copy(value.toJSON(), path, room)
    return fromEntries(Object.keys(value).map((key) => [key, () => Reflect.get(value, key)]), path, room)
  } catch {
    // A proxy, a getter or a toJSON of somebody's tool threw: what it said is not for the model.
    return markers.unreadable
  }
}

function fromItems (items: Iterable<unknown>, path: readonly object[], room: Room): unknown[] {
  const result: unknown[] = []
  for (const item of items) {
    result.push(copy(item, path, room) ?? null)
    if (room.values < 0) break // the marker stands for the rest
  }
  return result
}

function fromEntries (entries: readonly (readonly [string, () => unknown])[], path: readonly object[], room: Room): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, read] of entries) {
    const item = fits(key.length, room) ? readSafely(read, path, room) : markers.large
    if (item === undefined || reachesPrototype(key, item)) continue
    result[key] = item
    if (room.values < 0) break
  }
  return result
}

function readSafely (read: () => unknown, path: readonly object[], room: Room): unknown {
  try {
    return copy(read(), path, room)
  } catch {
    // One getter that throws costs its own field only.
    return markers.unreadable
  }
}

function reachesPrototype (key: string, value: unknown): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function bytes (value: Uint8Array, room: Room): string {
  if (!fits(Math.ceil(value.byteLength / 3) * 4, room)) return markers.large
  return `[${value.byteLength} bytes, base64] ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}`
}
