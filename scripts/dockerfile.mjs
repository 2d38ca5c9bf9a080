/**
 * The stages of a Dockerfile, each with its base, its name and its instructions in order. Knows what ours uses: a form
 * it does not know is an error, so that nothing is passed over in silence.
 */
export function parseDockerfile (text) {
  const stages = []
  for (const line of logicalLines(text)) {
    const [, keyword = '', rest = ''] = /^(\S+)\s+(.*)$/s.exec(line) ?? []
    const name = keyword.toUpperCase()
    if (name === 'FROM') {
      stages.push({ ...parseFrom(rest), instructions: [] })
      continue
    }
    const parse = parsers[name]
    const stage = stages.at(-1)
    if (parse === undefined || stage === undefined) throw new Error(`Dockerfile: cannot read "${line}"`)
    stage.instructions.push({ name, ...parse(rest) })
  }
  return stages
}

/** Whether a path of the context is left out, by the lines of a .dockerignore: the last one that matches decides. */
export function createIgnore (text) {
  const rules = text.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ ignored: !line.startsWith('!'), pattern: toPattern(line.replace(/^!/, '').replace(/^\/|\/$/g, '')) }))
  return (path) => rules.reduce((ignored, rule) => rule.pattern.test(path) ? rule.ignored : ignored, false)
}

const parsers = {
  WORKDIR: (path) => ({ path }),
  RUN: (command) => ({ command: command.startsWith('[') ? refuse('RUN', command) : command }),
  ENV: (pairs) => ({ variables: Object.fromEntries(Array.from(pairs.matchAll(/(\w+)=("[^"]*"|\S+)/g), ([, name, value]) => [name, value.replace(/^"|"$/g, '')])) }),
  COPY: parseCopy,
  CMD: (value) => ({ command: execForm('CMD', value) }),
  HEALTHCHECK: (value) => ({ options: flagsOf(value).flags, command: execForm('HEALTHCHECK', flagsOf(value).rest.replace(/^CMD\s+/, '')) }),
  USER: (user) => ({ user }),
  VOLUME: (path) => ({ path }),
  EXPOSE: (port) => ({ port }),
  STOPSIGNAL: (signal) => ({ signal })
}

function parseFrom (rest) {
  const [, base, name] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? refuse('FROM', rest)
  return { base, name }
}

function parseCopy (value) {
  const { flags, rest } = flagsOf(value)
  const paths = rest.split(/\s+/)
  const destination = paths.pop()
  return { from: flags.from, chown: flags.chown, sources: paths, destination }
}

function flagsOf (value) {
  const flags = {}
  let rest = value
  for (let match = /^--([\w-]+)=(\S+)\s+/.exec(rest); match !== null; match = /^--([\w-]+)=(\S+)\s+/.exec(rest)) {
    flags[match[1]] = match[2]
    rest = rest.slice(match[0].length)
  }
  return { flags, rest }
}

/** A list of words: with a shell in between, signals would not arrive. */
function execForm (name, value) {
  if (!value.startsWith('[')) refuse(name, value)
  return JSON.parse(value)
}

function refuse (name, value) {
  throw new Error(`Dockerfile: cannot read ${name} ${value}`)
}

function logicalLines (text) {
  return text.split('\n').filter((line) => !/^\s*#/.test(line)).join('\n').replace(/\\\n\s*/g, '').split('\n').map((line) => line.trim()).filter((line) => line !== '')
}

/** What is below a folder that matches, matches too. */
function toPattern (glob) {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/|\*|\?/g, (wild) => ({ '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' })[wild])
  return new RegExp(`^${source}(?:/.*)?$`)
}
