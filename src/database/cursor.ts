import { z } from 'zod'
import { invalidRequest } from '../errors.ts'

/** What places are made of, as every database takes it: a forged cursor gets no further than here. */
export const placeId = z.string().refine((id) => !id.includes('\0'))
export const placeTime = z.number().int().min(0).max(8_640_000_000_000_000)
export const placeNumber = z.number().int().min(0).max(2_147_483_647)

/** A place in a list, opaque to clients. */
export function encodeCursor (place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** Throws invalid_request naming the field for anything that is no place of this kind of list. */
export function decodeCursor<T> (text: string, place: z.ZodType<T>, field: string): T {
  const parsed = place.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')))
  if (!parsed.success) throw badCursor(field)
  return parsed.data
}

export function badCursor (field: string): Error {
  return invalidRequest(`The ${field} is not a cursor of this list.`, [{ path: field, message: 'not a cursor of this list' }])
}

function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What is not JSON is not one of our cursors; the caller says so.
    return undefined
  }
}
