/** Samples that are valid for the format and for the usual patterns of schema libraries. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T12:00:00Z',
  date: '2025-01-01',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/example',
  'iri-reference': '/example',
  'uri-template': 'https://example.com/{id}',
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  'json-pointer': '/example',
  'relative-json-pointer': '0/example',
  regex: '.*',
  byte: 'ZXhhbXBsZQ=='
}

const candidates = ['a', 'A', 'Aa', 'example', 'Example', 'EXAMPLE', '0', '1', '12', '123', '1234', '12345', 'AB', 'ABC', 'a1', 'A1', 'ABC-123', 'abc-123', 'example-1', 'v1.0.0', '1.0.0', '#aabbcc', '+15550100', 'true', '']

/** `text` where the schema allows it, else the nearest thing that it allows. */
export function stringFor (schema: Readonly<Record<string, unknown>>, text: string): string {
  const { format, pattern } = schema
  if (typeof format === 'string' && formats[format] !== undefined) {
    return format === 'email' || format === 'uri' ? inWords(format, text) ?? formats[format] : formats[format]
  }
  const sized = fit(text, schema)
  if (typeof pattern !== 'string') return sized
  const expression = compile(pattern)
  if (expression === undefined || expression.test(sized)) return sized
  const word = text.split(/\s+/).find((candidate) => expression.test(fit(candidate, schema)) && fit(candidate, schema) === candidate)
  return word ?? candidates.find((candidate) => expression.test(candidate) && fit(candidate, schema) === candidate) ?? sized
}

function inWords (format: 'email' | 'uri', text: string): string | undefined {
  const shape = format === 'email' ? /[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/ : /https?:\/\/[^\s"'<>]+/
  return shape.exec(text)?.[0]
}

function fit (text: string, { minLength, maxLength }: Readonly<Record<string, unknown>>): string {
  // Lengths count characters and not UTF-16 units.
  const characters = [...text].slice(0, typeof maxLength === 'number' ? maxLength : undefined)
  const missing = typeof minLength === 'number' ? minLength - characters.length : 0
  return characters.join('') + '.'.repeat(Math.max(0, missing))
}

function compile (pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined // Not an expression of ours to judge; the check at the end will.
  }
}
