/** A file as a message tells of it. */
export interface ToldFile {
  readonly name: string
  /** Type, size and what else is known. */
  readonly about: string
  /** The beginning of its text; undefined where none is told. */
  readonly text: string | undefined
}

const opening = /^\[Attached file "(.*)" \((.*?)\)(?:\]|: )/

/** A user's message as the files it came with, in the words that models are told of them, and what the user wrote. */
export function filesAndWords (content: string): { readonly files: readonly ToldFile[], readonly words: string } {
  if (!content.includes('[Attached file "')) return { files: [], words: content.trim() }
  const lines = content.split('\n')
  const files: ToldFile[] = []
  const words: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]! // at is an index of lines
    const [, name, about = ''] = opening.exec(line) ?? []
    if (name === undefined) {
      words.push(line)
      continue
    }
    const end = line.endsWith(': its text follows.]') ? lines.findIndex((other, index) => index > at && closes(other, name)) : -1
    files.push({ name, about: about.split(', ').filter((fact) => !fact.startsWith('id ')).join(', '), text: end === -1 ? undefined : lines.slice(at + 1, end).join('\n') })
    if (end !== -1) at = end
  }
  return { files, words: words.join('\n').trim() }
}

function closes (line: string, name: string): boolean {
  return line === `[End of "${name}"]` || (line.startsWith('[Cut: ') && line.endsWith(` characters of "${name}".]`))
}
