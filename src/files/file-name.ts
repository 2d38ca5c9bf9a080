const longestName = 255
const unnamed = 'unnamed'

/**
 * A file's name as people are shown it: as it was sent, without folders, control characters, marks that turn the
 * direction of text around, and halves of characters. Never used as a path.
 */
export function shownName (sent: string | undefined): string {
  const name = (sent ?? '')
    .replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Surrogate}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .normalize('NFC').trim()
  if (name === '' || /^\.+$/.test(name)) return unnamed
  return shortened(name)
}

/** Lower case and without its dot; '' for none. What follows it in dots and spaces does not count. */
export function extensionOf (name: string): string {
  return /[^.]\.([^.\s]{1,12})$/u.exec(name.replace(/[.\s]+$/u, ''))?.[1]?.toLowerCase() ?? ''
}

/** The header by which a browser saves a file under its name, in ASCII for old ones and as it is for all others (RFC 6266). */
export function contentDisposition (kind: 'inline' | 'attachment', name: string): string {
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^\x20-\x7e]/gu, '_').replace(/["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** The end stays: it says what the file is. */
function shortened (name: string): string {
  const characters = [...name]
  if (characters.length <= longestName) return name
  return [...characters.slice(0, longestName - 21), '…', ...characters.slice(-20)].join('')
}
