import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const dist = join(root, 'dist')
const buildInfo = join(dist, '.tsbuildinfo')
const stamp = join(dist, '.build-hash')
const generated = join(root, 'src/database/generated')

const compiledFolders = ['src', 'plugins', 'routes']
const otherInputs = ['prisma/schema', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/generate.mjs']

/** True when dist/ was built, completely, from the sources as they are now. A checkout without sources counts as built. */
function isBuilt () {
  if (!existsSync(stamp)) return false
  return !existsSync(join(root, 'src')) || readFileSync(stamp, 'utf8') === sourceHash()
}

/** Builds when dist/ is missing or stale, and says so; nothing is printed otherwise. */
export function buildIfNeeded () {
  if (isBuilt()) return
  timed('Building (on the first start and after changes) ...', () => build({ check: false }))
}

export function buildChecked () {
  timed('Building ...', () => build({ check: true }))
}

/**
 * Builds dist/ and throws when that fails. `check: false` leaves types unchecked: the sources of a release were checked
 * before, and whoever starts it should not wait for that again.
 */
function build ({ check }) {
  // Gone first and written last, so that an interrupted or failed build never counts as one.
  rmSync(stamp, { force: true })
  const hash = sourceHash()
  run('scripts/generate.mjs', ['--if-needed'])
  if (compiledFiles().some((file) => !existsSync(file))) rmSync(buildInfo, { force: true })
  run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), ['-p', 'tsconfig.build.json', ...(check ? [] : ['--noCheck'])])
  removeOrphans()
  writeFileSync(stamp, hash)
}

function timed (announcement, work) {
  const begun = Date.now()
  console.error(announcement)
  work()
  console.error(`Built in ${((Date.now() - begun) / 1000).toFixed(1)} s`)
}

function run (script, args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${basename(script)} failed`)
}

/** Content, not times: a checkout or an image copy gives every file a new time. */
function sourceHash () {
  const hash = createHash('sha256')
  for (const input of [...compiledFolders, ...otherInputs]) {
    for (const file of filesOf(join(root, input))) {
      if (!file.startsWith(generated)) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
    }
  }
  return hash.digest('hex')
}

/** What tsc writes for each source file. */
function compiledFiles () {
  return compiledFolders
    .flatMap((folder) => filesOf(join(root, folder)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(dist, relative(root, file).replace(/\.ts$/, '.js')))
}

/** The output of a removed source would live on, for whoever still imports it. */
function removeOrphans () {
  const expected = new Set(compiledFiles())
  for (const file of compiledFolders.flatMap((folder) => filesOf(join(dist, folder)))) {
    if (!expected.has(file.replace(/\.map$/, ''))) rmSync(file)
  }
}

/** The file itself, or all files below a folder in a stable order; none when it does not exist. */
function filesOf (path) {
  try {
    return readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path]
    if (error.code === 'ENOENT') return []
    throw error
  }
}
