// Reads docs/agents/features.md and the names of tests, so that a row cannot speak of a test that is not there.

/**
 * The rows of the page: what holds, below which heading, and the tests that prove it. A name in a row may have `…` where
 * the test puts in something that the file does not spell out.
 */
export function readFeatures (page) {
  let section = ''
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) section = line.slice(3)
    const [, rule, proof] = /^\| (.+?) \| (`test\/.+) \|$/.exec(line) ?? []
    return rule === undefined ? [] : [{ section, rule, tests: proof.split('<br>').map(readReference) }]
  })
}

/** How many tests of a file have this name. One that is spelled out goes before those that are put together. */
export function testsNamed (source, name) {
  const named = titlesIn(source).filter((title) => fits(title, name, source))
  const spelledOut = named.filter((title) => title.length === 1)
  return (spelledOut.length > 0 ? spelledOut : named).length
}

function readReference (text) {
  const [, file, name] = /^`(test\/[^`]+)`: (.+)$/.exec(text.trim()) ?? []
  if (file === undefined) throw new Error(`Not a test of a file: ${text}`)
  return { file, name }
}

/** For each test the texts of its name, between which it puts something in. */
function titlesIn (source) {
  const titles = source.matchAll(/\bt\.test\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`|(\w+),)/g)
  return Array.from(titles, ([, single, double, template, variable]) => {
    if (variable !== undefined) return ['', '']
    if (template !== undefined) return template.split(/\$\{.*?\}/).map(unescaped)
    return [unescaped(single ?? double)]
  })
}

function unescaped (text) {
  return text.replace(/\\(.)/g, '$1')
}

function fits (texts, name, source) {
  const pattern = new RegExp(`^${texts.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(.+)')}$`)
  const [, ...filled] = pattern.exec(name) ?? []
  return pattern.test(name) && filled.every((part) => part === '…' || source.includes(part))
}
