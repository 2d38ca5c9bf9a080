/**
 * Where a text stops being JSON (RFC 8259); undefined where it is JSON. It builds nothing, so that a file of any shape
 * costs no more memory than a byte for each bracket, outside of the heap, and no number is touched.
 */
export function jsonFault (text: string): number | undefined {
  const open = createBrackets()
  let wants: 'value' | 'first-item' | 'key' | 'first-key' | 'end' = 'value'
  let at = pastBlanks(text, 0)

  for (;;) {
    const char = text[at]
    if (wants === 'end') {
      const outer = open.innermost()
      if (outer === undefined) return at === text.length ? undefined : at
      if (char === ',') wants = outer === '{' ? 'key' : 'value'
      else if (char === closing[outer]) open.pop()
      else return at
      at = pastBlanks(text, at + 1)
      continue
    }
    if ((wants === 'first-item' && char === ']') || (wants === 'first-key' && char === '}')) {
      open.pop()
      wants = 'end'
      at = pastBlanks(text, at + 1)
      continue
    }
    const isKey: boolean = wants === 'key' || wants === 'first-key'
    if (!isKey && (char === '{' || char === '[')) {
      open.push(char)
      wants = char === '{' ? 'first-key' : 'first-item'
      at = pastBlanks(text, at + 1)
      continue
    }
    const end = char === '"' ? pastString(text, at) : isKey ? { fault: at } : pastScalar(text, at)
    if (typeof end !== 'number') return end.fault
    at = pastBlanks(text, end)
    wants = isKey ? 'value' : 'end'
    if (!isKey) continue
    if (text[at] !== ':') return at
    at = pastBlanks(text, at + 1)
  }
}

type Past = number | { readonly fault: number }

const closing = { '{': '}', '[': ']' } as const

/** The brackets that are open, the innermost last. */
function createBrackets () {
  // Few at first: a file of lines has a value on each of millions.
  let bytes: Uint8Array | undefined
  let depth = 0

  return {
    push (bracket: '{' | '['): void {
      bytes ??= new Uint8Array(32)
      if (depth === bytes.length) {
        const larger = new Uint8Array(depth * 2)
        larger.set(bytes)
        bytes = larger
      }
      bytes[depth++] = bracket === '{' ? 1 : 0
    },
    pop (): void { depth-- },
    innermost: (): '{' | '[' | undefined => depth === 0 ? undefined : bytes?.[depth - 1] === 1 ? '{' : '['
  }
}

function pastBlanks (text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\n\r'.includes(text[at] ?? '')) at++
  return at
}

function pastString (text: string, from: number): Past {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code < 0x20) return { fault: at }
    if (code !== 0x5c) continue
    const escaped = text[++at] ?? ''
    if (escaped === 'u' && /^[0-9a-f]{4}$/i.test(text.slice(at + 1, at + 5))) at += 4
    else if (escaped === '' || !'"\\/bfnrt'.includes(escaped)) return { fault: Math.min(at, text.length) }
  }
  return { fault: text.length }
}

function pastScalar (text: string, from: number): Past {
  const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  scalar.lastIndex = from
  return scalar.test(text) ? scalar.lastIndex : { fault: from }
}
