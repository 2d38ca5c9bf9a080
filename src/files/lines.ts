/** The lines of a text, each without its end, one at a time: a file of nothing but line ends has millions of them. */
export function * linesOf (text: string): Generator<string, void> {
  const end = /\r\n|\r|\n/g
  let from = 0
  for (let found = end.exec(text); found !== null; found = end.exec(text)) {
    yield text.slice(from, found.index)
    from = end.lastIndex
  }
  yield text.slice(from)
}

/** How many line ends there are before a place in the text. */
export function lineEnds (text: string, before = text.length): number {
  let count = 0
  for (let at = 0; at < before; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) count++
  }
  return count
}
