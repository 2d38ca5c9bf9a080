import t from 'tap'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../../src/database/cursor.ts'

const place = z.tuple([z.number().int(), z.string()])

t.test('a cursor is URL-safe and leads back to its place', async (t) => {
  const cursor = encodeCursor([1_700_000_000_000, 'key?&/ü'])
  t.match(cursor, /^[A-Za-z0-9_-]+$/)
  t.strictSame(decodeCursor(cursor, place, 'cursor'), [1_700_000_000_000, 'key?&/ü'])
})

t.test('what is no cursor of the list is invalid_request naming the field', async (t) => {
  for (const bad of ['', '!', 'e30', encodeCursor([1]), encodeCursor(['1', 'key']), encodeCursor([1.5, 'key'])]) {
    t.throws(() => decodeCursor(bad, place, 'before'), { code: 'invalid_request', details: { issues: [{ path: 'before' }] } }, JSON.stringify(bad))
  }
})
