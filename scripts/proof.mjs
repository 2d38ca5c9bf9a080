/** The source without the feature. Throws where the text is not there exactly once: then nobody knows what is turned off. */
export function turnedOff (source, { file, find, replace }) {
  const times = source.split(find).length - 1
  if (times !== 1) throw new Error(`${file} has this text ${times} times and not once: ${find}`)
  return source.replace(find, () => replace)
}

/** What became of a test in the TAP of its file: passed, failed, or missing, and how many others of its level passed or failed. */
export function outcomeOf (lines, name) {
  const points = lines.flatMap((line) => {
    const point = /^( {4,})(not )?ok \d+ - (?<name>.*?)(?: # time=[\d.]+ms)?(?: \{)?$/.exec(line)
    return point === null ? [] : [{ depth: point[1].length, failed: point[2] !== undefined, name: point.groups.name }]
  })
  const named = points.filter((point) => point.name === name)
  if (named.length === 0) return { state: 'missing', passed: 0, failed: 0 }
  const others = points.filter((point) => point.depth === named[0].depth && point.name !== name)
  return {
    state: named.some(({ failed }) => failed) ? 'failed' : 'passed',
    passed: others.filter(({ failed }) => !failed).length,
    failed: others.filter(({ failed }) => failed).length
  }
}
