import { invalidRequest } from '../../src/errors.ts'

/** A page of a list that is held whole: what the configuration names. */
export function pageOf<T extends { readonly id: string }> (all: readonly T[], { limit, cursor }: { limit: number, cursor?: string | undefined }): { items: readonly T[], nextCursor: string | null } {
  const start = cursor === undefined ? 0 : all.findIndex((item) => encode(item.id) === cursor) + 1
  if (cursor !== undefined && start === 0) throw invalidRequest('cursor: not a cursor of this list.', [{ path: 'cursor', message: 'expected a nextCursor of an earlier page' }])
  const items = all.slice(start, start + limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || start + limit >= all.length ? null : encode(last.id) }
}

function encode (id: string): string {
  return Buffer.from(id).toString('base64url')
}
