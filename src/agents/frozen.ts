// What was frozen all the way down already, so that a state which grows is not walked through anew for every part of it.
const done = new WeakSet<object>()

/** A value that nobody can change: its plain objects and lists are frozen, all the way down. Other objects stay as they are. */
export function frozen<T> (value: T): T {
  if (typeof value !== 'object' || value === null || done.has(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  Object.freeze(value)
  done.add(value)
  for (const inner of Object.values(value)) frozen(inner)
  return value
}
