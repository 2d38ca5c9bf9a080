/**
 * Instructions written inside indented code: common indentation and outer blank lines go, the rest stays as written.
 * As a tag it measures the template alone; what is put into it keeps its own lines untouched.
 */
export function prompt (text: string): string
export function prompt (strings: TemplateStringsArray, ...values: readonly unknown[]): string
export function prompt (text: string | TemplateStringsArray, ...values: readonly unknown[]): string {
  if (typeof text === 'string') return dedent(text)
  // A stand-in of one character that no prompt contains, so that a value is never taken for indentation or a blank line.
  const pieces = dedent(text.join(hole)).split(hole)
  return pieces.reduce((whole, piece, i) => whole + String(values[i - 1]) + piece)
}

const hole = '\u0000'

function dedent (text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const margin = commonStart(lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0] ?? ''))
  const bare = lines.map((line) => line.trim() === '' ? '' : line.slice(margin.length))
  const first = bare.findIndex((line) => line !== '')
  const last = bare.findLastIndex((line) => line !== '')
  return bare.slice(Math.max(first, 0), last + 1).join('\n').trimEnd()
}

function commonStart (starts: readonly string[]): string {
  return starts.reduce((common, start) => {
    let length = 0
    while (length < common.length && common[length] === start[length]) length++
    return common.slice(0, length)
  }, starts[0] ?? '')
}
