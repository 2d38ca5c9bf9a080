import type { Principal } from '../auth/principal.ts'
import type { Page, Thread, ThreadQuery, ThreadStore } from '../threads/thread-store.ts'
import { decodePlaces, encodePlaces, type ListPlaces } from './list-cursor.ts'

type Lists = ReadonlyMap<string, Pick<ThreadStore, 'list'>>

/**
 * One list of several: newest activity first, each in its own order. A storage is asked once more for exactly what is shown
 * of it, because only it knows the cursor that comes after that: so nothing is shown twice or left out.
 */
export async function mergedList (lists: Lists, principal: Principal, { cursor, ...query }: ThreadQuery): Promise<Page<Thread>> {
  const places: ListPlaces = cursor === undefined ? new Map(Array.from(lists.keys(), (name) => [name, undefined])) : decodePlaces(cursor)
  const pages = new Map(await Promise.all(Array.from(places, async ([name, from]) => [name, await pageOf(name, from, query.limit)] as const)))
  const merged = inOrder(pages).slice(0, query.limit)
  const left = new Map<string, string | undefined>()
  const shown = new Map(await Promise.all(Array.from(pages, async ([name, page]) => [name, await shownOf(name, page)] as const)))
  return { items: inOrder(shown).map(({ thread }) => thread), nextCursor: encodePlaces(left) }

  async function pageOf (name: string, from: string | undefined, limit: number): Promise<Page<Thread>> {
    return await lists.get(name)?.list(principal, { ...query, limit, cursor: from }) ?? nothing
  }

  async function shownOf (name: string, page: Page<Thread>): Promise<Page<Thread>> {
    const from = places.get(name)
    const count = merged.filter((entry) => entry.name === name).length
    if (count === 0 && page.items.length > 0) {
      left.set(name, from)
      return nothing
    }
    const shown = count === page.items.length ? page : await pageOf(name, from, count)
    if (shown.nextCursor !== undefined) left.set(name, shown.nextCursor)
    return shown
  }
}

const nothing: Page<Thread> = { items: [], nextCursor: undefined }

interface Entry { readonly name: string, readonly thread: Thread }

function inOrder (pages: ReadonlyMap<string, Page<Thread>>): Entry[] {
  const rest = Array.from(pages, ([name, { items }]) => items.map((thread) => ({ name, thread })).reverse())
  const merged: Entry[] = []
  for (;;) {
    const [newest] = rest.filter((entries) => entries.length > 0).sort((a, b) => activeAt(b) - activeAt(a))
    const entry = newest?.pop()
    if (entry === undefined) return merged
    merged.push(entry)
  }
}

/** Of the next one. */
function activeAt (entries: readonly Entry[]): number {
  const thread = entries.at(-1)?.thread
  return (thread?.lastMessageAt ?? thread?.createdAt)?.getTime() ?? 0
}
