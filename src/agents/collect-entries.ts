import { dirname, extname, join } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { shownPath } from './config-file.ts'
import type { Fault } from './faults.ts'
import { codeExtensions, dataExtensions, isLoadable, type LoadFile } from './load-file.ts'

/** Something that should be an agent, and where it was found. */
export interface Entry {
  readonly file: string
  readonly label: string
  /** Where its relative paths count from: the folder of its file, then that of the configuration. */
  readonly places: readonly string[]
  readonly value: unknown
}

export interface CollectOptions {
  readonly configPath: string
  readonly cwd: string
  readonly load: LoadFile
}

/** The agents of a configuration in its order, those of listed files where the file is listed. */
export async function collectEntries (items: readonly unknown[], options: CollectOptions): Promise<{ entries: readonly Entry[], faults: readonly Fault[] }> {
  const entries: Entry[] = []
  const faults: Fault[] = []
  const file = shownPath(options.configPath, options.cwd)
  // An agent that the configuration imports and also lists by a glob is one agent.
  const seen = new Set(items.filter((item) => typeof item !== 'string'))
  const read = new Set([options.configPath])
  for (const [index, item] of items.entries()) {
    const place = `agents[${index}]`
    if (typeof item !== 'string') {
      entries.push(entryOf({ file, places: [dirname(options.configPath)] }, place, item))
      continue
    }
    const paths = await findFiles(item, dirname(options.configPath))
    if (paths.length === 0) faults.push({ file, entry: place, reason: `"${item}" matches no agent file` })
    for (const path of paths.filter((candidate) => !read.has(candidate))) {
      read.add(path)
      const found = await readAgentFile(path, options)
      faults.push(...found.faults)
      entries.push(...found.entries.filter((entry) => !seen.has(entry.value)))
      for (const entry of found.entries) seen.add(entry.value)
    }
  }
  return { entries, faults }
}

async function findFiles (pattern: string, folder: string): Promise<readonly string[]> {
  const search = async (what: string) => {
    const found = await glob(what, { cwd: folder, absolute: true, expandDirectories: false, ignore: ['**/node_modules/**'] })
    return found.filter((path) => !isDynamicPattern(pattern) || isLoadable(path)).sort()
  }
  const found = await search(pattern)
  if (found.length > 0 || /[/\\]/.test(pattern) || isDynamicPattern(pattern)) return found
  return search(join('agents', `${pattern}.{${[...codeExtensions, ...dataExtensions].map((extension) => extension.slice(1)).join(',')}}`))
}

async function readAgentFile (path: string, { configPath, cwd, load }: CollectOptions): Promise<{ entries: readonly Entry[], faults: readonly Fault[] }> {
  const file = shownPath(path, cwd)
  const fail = (reason: string) => ({ entries: [], faults: [{ file, entry: undefined, reason }] })
  if (!isLoadable(path)) return fail(`cannot be read as "${extname(path)}"; expected one of ${[...codeExtensions, ...dataExtensions].join(', ')}`)
  const loaded = await load(path)
  if (!loaded.ok) return fail(loaded.reason)
  const source = { file, places: [dirname(path), dirname(configPath)] }
  const found = new Map<unknown, Entry>()
  for (const [name, value] of Object.entries(loaded.exports)) {
    if (name === 'default' && Array.isArray(value)) value.forEach((item, index) => found.set(item, entryOf(source, `[${index}]`, item)))
    else if (isAgent(value) || (name === 'default' && isPlain(value))) found.set(value, entryOf(source, name, value))
  }
  if (found.size === 0) return fail('holds no agent; expected an export made by defineAgent, or one entry or a list of them')
  return { entries: [...found.values()], faults: [] }
}

function entryOf (source: Pick<Entry, 'file' | 'places'>, place: string, value: unknown): Entry {
  const key = typeof value === 'object' && value !== null ? (value as { key?: unknown }).key : undefined
  return { ...source, label: typeof key === 'string' && key !== '' ? `agent "${key}"` : place, value }
}

function isAgent (value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'agent'
}

function isPlain (value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === undefined
}
