const pointPattern = /^( {4})?(not )?ok \d+( - (?<name>.*?))?( # (SKIP|TODO)(?<skip>.*?))?( # time=(?<time>[\d.]+)ms)?$/i

/**
 * Reads the TAP of a run of test files, line by line. A "test" is what a file declares at its top level; a file that
 * failed although none of its tests did (it crashed, timed out, or declared none) counts as one failed test.
 * `onFile` gets each file with all its lines; call `end` after the last line: it returns those of a file without a result.
 */
export function createTapResults ({ onFile = () => {} } = {}) {
  const totals = { passed: 0, failed: 0, skipped: 0 }
  let file = newFile()
  let diagnosticsEnd

  function push (line) {
    // The diagnostics of a file follow its result, so a file is over when the next one begins.
    if (line.startsWith('# Subtest: ')) end()
    file.lines.push(line)
    if (diagnosticsEnd !== undefined) {
      if (line === diagnosticsEnd) diagnosticsEnd = undefined
    } else if (/^ *---$/.test(line)) {
      diagnosticsEnd = line.replace('---', '...')
    } else {
      readPoint(pointPattern.exec(line))
    }
  }

  function readPoint (point) {
    if (point === null) return
    const [, nested, failed] = point
    const { name, skip, time = '0' } = point.groups
    if (nested === undefined) {
      file.name = name
      file.seconds = (Number(time) / 1000).toFixed(1)
    }
    if (skip !== undefined) file.skips.push(skip.trim() || 'no reason given')
    else if (nested !== undefined) file[failed === undefined ? 'passed' : 'failed']++
    else if (failed !== undefined && file.failed === 0) file.failed = 1
  }

  function end () {
    const { lines } = file
    const reported = file.name !== undefined
    if (reported) {
      totals.passed += file.passed
      totals.failed += file.failed
      totals.skipped += file.skips.length
      onFile(file)
    }
    file = newFile()
    diagnosticsEnd = undefined
    return reported ? [] : lines
  }

  return { totals, push, end }
}

function newFile () {
  return { name: undefined, lines: [], seconds: '0.0', passed: 0, failed: 0, skips: [] }
}
