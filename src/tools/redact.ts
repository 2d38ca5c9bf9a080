import { toJsonSafe } from './serialise.ts'

const redacted = '[redacted]'
const secretNames = /pass(word|wd|phrase|code)?$|secret|token$|api_?-?key|private_?-?key|access_?-?key|credential|authori[sz]ation|cookie|session_?-?id|^(auth|pin|cvv|cvc)$/i
// Keys as their issuers mark them, signed tokens, credentials of a header, and those of an address.
const secretValues = /\b(?:sk|pk|rk|gh[pousr]|glpat|xox[abprs]|parley)[-_][\w-]{12,}|\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?:Bearer|Basic)\s+[\w.~+/=-]+|(?<=:\/\/)[^\s/@]+(?=@)/g
const maxLength = 500

/**
 * A copy for the log: what is called a secret is left out, also inside of texts what looks like one, and long texts are cut.
 * It keeps honest mistakes out of logs; it is no proof that nothing is in them.
 */
export function redactSecrets (value: unknown): unknown {
  return redact(toJsonSafe(value))
}

function redact (value: unknown): unknown {
  if (typeof value === 'string') return cut(value.replace(secretValues, redacted))
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, isSecret(name, item) ? redacted : redact(item)]))
}

/** Numbers and the like are no secrets whatever they are called, such as a number of tokens. */
function isSecret (name: string, value: unknown): boolean {
  return secretNames.test(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null))
}

function cut (text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length} characters)`
}
