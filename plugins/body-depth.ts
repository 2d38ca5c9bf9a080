import fp from 'fastify-plugin'
import { invalidRequest } from '../src/errors.ts'

/** Deeper than any message a client sends back: what a tool may return is 64 levels deep at most. */
const maxDepth = 128

/**
 * Refuses bodies that are nested deeper than code which follows them can go. A body of the allowed size holds half a
 * million levels, and each recursive function on its way, JSON.stringify too, ends at a few thousand.
 */
export default fp(async (app) => {
  app.addHook('preValidation', async ({ body }) => {
    if (isDeeper(body, maxDepth)) throw invalidRequest(`body: nested deeper than ${maxDepth} levels`, [{ path: 'body', message: `expected at most ${maxDepth} levels of lists and objects` }])
  })
}, { name: 'body-depth' })

/** Level by level and not by recursion, which would be the fault it looks for. */
function isDeeper (value: unknown, most: number): boolean {
  let level = nestedIn([value])
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === most) return true
    level = nestedIn(level.flatMap((item) => Object.values(item)))
  }
  return false
}

function nestedIn (values: readonly unknown[]): object[] {
  return values.filter((value): value is object => typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
}
