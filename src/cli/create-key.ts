import { parseArgs } from 'node:util'
import { newKey } from '../auth/new-key.ts'
import { keyEntrySchema } from '../config.ts'
import type { Terminal } from './terminal.ts'

/** Prints a new key, once, and what AUTH_KEYS lists of it. Undefined, and nothing printed, when the arguments are wrong. */
export function createKey (args: readonly string[], { out, err }: Terminal): number | undefined {
  const asked = readArguments(args)
  if (asked === undefined) return undefined
  const { key, entry } = newKey(asked)
  err('The key is shown this once and kept nowhere. Its user sends it; the service is given the entry, in AUTH_KEYS or AUTH_KEYS_FILE.\n')
  out(`key:   ${key}\nentry: ${JSON.stringify(entry)}\n`)
  return 0
}

function readArguments (args: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options: { tenant: { type: 'string' }, role: { type: 'string', multiple: true } } })
    const [user] = positionals
    if (positionals.length !== 1) return undefined
    return keyEntrySchema.omit({ hash: true }).safeParse({ user, tenant: values.tenant, roles: values.role }).data
  } catch {
    // parseArgs throws on options it was not told of: wrong usage, which the caller says.
    return undefined
  }
}
