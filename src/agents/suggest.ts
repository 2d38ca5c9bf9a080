/** ` Did you mean "model"?` for the nearest of the known names, or nothing where none is near. */
export function didYouMean (name: string, known: readonly string[]): string {
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3)))
    .sort((a, b) => a.distance - b.distance)[0]
  return near === undefined ? '' : ` Did you mean "${near.candidate}"?`
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance (a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : Infinity
      row.push(Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1))
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at (row: readonly number[], index: number): number {
  return row[index] ?? Infinity
}
