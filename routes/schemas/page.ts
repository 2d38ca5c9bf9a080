import { invalidRequest } from '../../src/errors.ts'

/** A page of a list that is held whole: what the configuration names, and behind it what is made meanwhile, in the order of its ids. */
export function pageOf<T extends { readonly id: string }> (all: readonly T[], { limit, cursor }: { limit: number, cursor?: string | undefined }): { items: readonly T[], nextCursor: string | null } {
  const start = cursor === undefined ? 0 : placeAfter(cursor, all)
  if (cursor !== undefined && start === 0) throw invalidRequest('cursor: not a cursor of this list.', [{ path: 'cursor', message: 'expected a nextCursor of an earlier page' }])
  const items = all.slice(start, start + limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || start + limit >= all.length ? null : encode(last.id) }
}

/** The place behind an item, also of one that is gone meanwhile; 0 for what is no cursor of the list. */
function placeAfter (cursor: string, all: readonly { readonly id: string }[]): number {
  const place = all.findIndex((item) => encode(item.id) === cursor) + 1
  const id = Buffer.from(cursor, 'base64url').toString()
  if (place > 0 || !rowId.test(id)) return place
  const next = all.findIndex((item) => rowId.test(item.id) && item.id > id)
  return next === -1 ? all.length : next
}

// Version 7: their order is that in which rows were made.
const rowId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function encode (id: string): string {
  return Buffer.from(id).toString('base64url')
}
