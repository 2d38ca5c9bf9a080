import { existsSync } from 'node:fs'
import { extname, isAbsolute, join, relative, resolve } from 'node:path'
import type { z } from 'zod'
import { configSchema } from './config.ts'
import { issueReasons, type Fault } from './faults.ts'
import { codeExtensions, dataExtensions, isLoadable, type LoadFile } from './load-file.ts'

export interface FoundConfig {
  readonly path: string
  /** Other configuration files beside it, which are not read. */
  readonly ignored: readonly string[]
}

export type ConfigFile =
  /** `faults`: attributes that there are not, beside what can be checked further. */
  | { readonly ok: true, readonly value: z.output<typeof configSchema>, readonly faults: readonly Fault[] }
  | { readonly ok: false, readonly faults: readonly Fault[] }

/** The file PARLEY_CONFIG names, whether it exists or not, else the first `parley.config.*` of the folder. */
export function findConfig (cwd: string, named: string | undefined): FoundConfig | undefined {
  if (named !== undefined) return { path: resolve(cwd, named), ignored: [] }
  const candidates = [...codeExtensions, ...dataExtensions].map((extension) => join(cwd, `parley.config${extension}`))
  const [path, ...ignored] = candidates.filter((candidate) => existsSync(candidate))
  return path === undefined ? undefined : { path, ignored }
}

export async function loadConfigFile (path: string, { load, shown }: { load: LoadFile, shown: string }): Promise<ConfigFile> {
  const faultsOf = (reasons: readonly string[]): Fault[] => reasons.map((reason) => ({ file: shown, entry: undefined, reason }))
  const fail = (...reasons: readonly string[]): ConfigFile => ({ ok: false, faults: faultsOf(reasons) })
  if (!isLoadable(path)) return fail(`cannot be read as "${extname(path)}"; expected one of ${[...codeExtensions, ...dataExtensions].join(', ')}`)
  const loaded = await load(path)
  if (!loaded.ok) return fail(loaded.reason)
  const value = loaded.exports['default']
  if (value === undefined) return fail('has no default export; expected defineConfig({ agents: [...] })')
  const parsed = configSchema.safeParse(value)
  if (parsed.success) return { ok: true, value: parsed.data, faults: [] }
  const reasons = issueReasons(parsed.error.issues, Object.keys(configSchema.shape))
  const known = configSchema.strip().safeParse(value)
  return known.success ? { ok: true, value: known.data, faults: faultsOf(reasons) } : fail(...reasons)
}

/** A path as messages show it: short inside the working directory, whole outside of it. */
export function shownPath (path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short.startsWith('..') || isAbsolute(short) ? path : short
}
