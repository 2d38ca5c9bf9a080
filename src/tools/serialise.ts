/** What a value that JSON cannot hold is replaced by, so that a result is never lost to one odd field. */
const markers = { circular: '[Circular]', deep: '[Too deep]', unreadable: '[Unreadable]' } as const
const maxDepth = 64

/**
 * A copy that JSON holds without loss or surprise: `undefined` is null, BigInt a string, Date ISO 8601, bytes a base64
 * marker, Map an object, Set an array; cycles, functions and symbols become markers. `toJSON` is honoured. Never throws.
 * Keys that reach a prototype are left out: strict readers refuse a whole document over them.
 */
export function toJsonSafe (value: unknown): unknown {
  return copy(value, []) ?? null
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

/** Never half a surrogate pair: it would not survive UTF-8. */
function headOf (text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xD800 && last <= 0xDBFF ? length - 1 : length)
}

function copy (value: unknown, ancestors: readonly object[]): unknown {
  switch (typeof value) {
    case 'string': case 'boolean': case 'undefined': return value
    case 'number': return Number.isFinite(value) ? value : null
    case 'bigint': return value.toString()
    case 'function': return `[Function${value.name === '' ? '' : ` ${value.name}`}]`
    case 'symbol': return `[${value.toString()}]`
    case 'object': return value === null ? null : copyObject(value, ancestors)
  }
}

function copyObject (value: object, ancestors: readonly object[]): unknown {
  if (ancestors.includes(value)) return markers.circular
  if (ancestors.length >= maxDepth) return markers.deep
  const path = [...ancestors, value]
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (value instanceof Uint8Array) return bytes(value)
    if (value instanceof ArrayBuffer) return bytes(new Uint8Array(value))
    if (value instanceof Error) return { name: value.name, message: value.message }
    if (Array.isArray(value)) return value.map((item) => copy(item, path) ?? null)
    if (value instanceof Set) return Array.from(value, (item) => copy(item, path) ?? null)
    if (value instanceof Map) return fromEntries(Array.from(value, ([key, item]) => [String(key), () => item]), path)
    if ('toJSON' in value && typeof value.toJSON === 'function') return copy(value.toJSON(), path)
    return fromEntries(Object.keys(value).map((key) => [key, () => Reflect.get(value, key)]), path)
  } catch {
    // A proxy, a getter or a toJSON of somebody's tool threw: what it said is not for the model.
    return markers.unreadable
  }
}

function fromEntries (entries: readonly (readonly [string, () => unknown])[], path: readonly object[]): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, read] of entries) {
    const item = readSafely(read, path)
    if (item === undefined || reachesPrototype(key, item)) continue
    result[key] = item
  }
  return result
}

function readSafely (read: () => unknown, path: readonly object[]): unknown {
  try {
    return copy(read(), path)
  } catch {
    // One getter that throws costs its own field only.
    return markers.unreadable
  }
}

function reachesPrototype (key: string, value: unknown): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function bytes (value: Uint8Array): string {
  return `[${value.byteLength} bytes, base64] ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}`
}
