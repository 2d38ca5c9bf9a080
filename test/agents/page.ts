/** A command of a page and what the page says comes back. */
export interface Trial {
  readonly commands: string
  readonly answer: string
}

export interface Page {
  /** The first block of code: main lines of the agent's file. */
  readonly excerpt: string
  readonly trials: readonly Trial[]
}

/** Every block of commands is followed by a block without a language: the answer. */
export function readPage (text: string): Page {
  const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => ({ language, body }))
  const trials = blocks.flatMap(({ language, body }, index) => {
    if (language !== 'sh') return []
    const next = blocks[index + 1]
    if (next?.language !== '') throw new Error(`No answer stands behind: ${body}`)
    return [{ commands: body, answer: next.body }]
  })
  return { excerpt: blocks[0]?.body ?? '', trials }
}

/** The first line that `text` does not have behind those before it. `...` stands for anything, on a line of its own for any lines. */
export function missingLine (expected: string, text: string): string | undefined {
  let lines = text.split('\n')
  for (const line of linesOf(expected)) {
    const found = lines.findIndex((candidate) => patternOf(line).test(candidate))
    if (found === -1) return line
    lines = lines.slice(found + 1)
  }
  return undefined
}

/** The first line that stands nowhere in `text`. */
export function foreignLine (excerpt: string, text: string): string | undefined {
  const lines = text.split('\n')
  return linesOf(excerpt).find((line) => !lines.some((candidate) => patternOf(line).test(candidate)))
}

function linesOf (text: string): string[] {
  return text.split('\n').filter((line) => !['', '...'].includes(line.trim()))
}

function patternOf (line: string): RegExp {
  return new RegExp(`^${line.trimEnd().split('...').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`)
}
