import { z } from 'zod'
import { invalidRequest } from '../errors.ts'

/** Where a list of several storages goes on in each of them: a cursor of its own, or from its beginning. One that is not named has been shown. */
export type ListPlaces = ReadonlyMap<string, string | undefined>

const placesSchema = z.array(z.tuple([z.string(), z.string().nullable()]))

/** Undefined where nothing is left. */
export function encodePlaces (places: ListPlaces): string | undefined {
  if (places.size === 0) return undefined
  return Buffer.from(JSON.stringify(Array.from(places, ([name, cursor]) => [name, cursor ?? null]))).toString('base64url')
}

/** Throws invalid_request for what is no such cursor. */
export function decodePlaces (cursor: string): ListPlaces {
  const parsed = placesSchema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')))
  if (!parsed.success) throw invalidRequest('The cursor is not a cursor of this list.', [{ path: 'cursor', message: 'not a cursor of this list' }])
  return new Map(parsed.data.map(([name, place]) => [name, place ?? undefined]))
}

function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it.
    return undefined
  }
}
