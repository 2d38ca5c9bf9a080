import { z } from 'zod'
import { protocolNames, wireProfiles } from '../../src/messages/wire.ts'

/** How a chat reply is to be written: asked for with each request. */
export const wireQuery = z.object({
  protocol: oneOf('protocol', protocolNames).optional(),
  profile: oneOf('profile', wireProfiles).optional()
})

export type WireQuery = z.output<typeof wireQuery>

function oneOf<const T extends readonly [string, ...string[]]> (what: string, names: T) {
  return z.enum(names, { error: ({ input }) => `unknown ${what} "${String(input).slice(0, 64)}", expected ${names.join(', ')}` })
}
