import { readFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { createJiti } from 'jiti'
import { LineCounter, parseDocument } from 'yaml'
import * as zod from 'zod'
import * as parley from '../parley.ts'
import { issueReasons } from './faults.ts'
import { skillAgentDraft } from './skills/define-skill-agent.ts'
import { findSkillFolder } from './skills/load-skill.ts'
import { stepsAttributes } from './steps/define-steps-agent.ts'

export const codeExtensions = ['.ts', '.mts', '.mjs', '.js'] as const
export const dataExtensions = ['.json', '.yaml', '.yml'] as const

/** A file's exports; a data file has its value as the default one. */
export type LoadedFile =
  | { readonly ok: true, readonly exports: Readonly<Record<string, unknown>> }
  | { readonly ok: false, readonly reason: string }

export type LoadFile = (path: string) => Promise<LoadedFile>

export function isLoadable (path: string): boolean {
  if (/\.d\.m?ts$/.test(path)) return false
  return isCode(path) || dataExtensions.some((extension) => extension === extname(path))
}

/** Loads files of one configuration: a module that two of them import is evaluated once. */
export function createFileLoader (): LoadFile {
  let places: readonly string[] = []
  const jiti = createJiti(import.meta.url, {
    // Nothing is written outside DATA_DIR, and nobody else's cache is trusted.
    fsCache: false,
    interopDefault: false,
    // The running build itself, so that a file outside of the package and without node_modules finds it, and one copy of zod.
    virtualModules: { parley: lenientParley(() => places), zod, 'zod/v4': zod }
  })
  return async (path) => {
    // The first file is the configuration itself.
    places = [dirname(path), ...places.slice(-1)]
    try {
      if (!isCode(path)) return readData(await readFile(path, 'utf8'))
      return { ok: true, exports: await jiti.import<Record<string, unknown>>(path) }
    } catch (error) {
      return { ok: false, reason: loadFailure(error) }
    }
  }
}

/**
 * The public module as the loaded files see it. There definitions do not throw: the first mistake would hide all others.
 * What they let pass is checked after loading, with the file and the entry at hand. `places`: where relative folders
 * count from, in the file that is being loaded.
 */
function lenientParley (places: () => readonly string[]) {
  return {
    ...parley,
    defineAgent: (definition: parley.AgentDefinition) => attempt(() => parley.defineAgent(definition), { ...definition, kind: 'agent' }),
    defineArtifact: (definition: parley.ArtifactDefinition<parley.JsonSchema>) => attempt(() => parley.defineArtifact(definition), { ...definition, kind: 'artifact' }),
    defineSkillAgent: (folder: string | URL, definition: parley.SkillAgentDefinition = {}) =>
      attempt(() => parley.defineSkillAgent(findSkillFolder(folder, places()) ?? folder, definition), skillAgentDraft(folder, definition)),
    defineStepsAgent: (definition: parley.StepsAgentDefinition<object>) => attempt(() => parley.defineStepsAgent(definition), { ...stepsAttributes(definition), kind: 'agent' }),
    defineStorage: (definition: parley.StorageDefinition) => attempt(() => parley.defineStorage(definition), { ...definition, kind: 'storage' }),
    defineTool: (definition: parley.ToolDefinition<parley.JsonSchema>) => attempt(() => parley.defineTool(definition), { ...definition, kind: 'tool' })
  }
}

function attempt<T> (define: () => T, draft: object): T | object {
  try {
    return define()
  } catch {
    // The checks of the loader run into the same fault and report it.
    return Object.freeze(draft)
  }
}

function isCode (path: string): boolean {
  return codeExtensions.some((extension) => extension === extname(path))
}

/** YAML, of which JSON is a part. */
function readData (text: string): LoadedFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error === undefined) return { ok: true, exports: { default: document.toJS() as unknown } }
  const { line, col } = lines.linePos(error.pos[0])
  return { ok: false, reason: `line ${line}, column ${col}: ${error.message}` }
}

function loadFailure (error: unknown): string {
  if (error instanceof zod.ZodError) return issueReasons(error.issues, []).join('; ')
  if (!(error instanceof Error)) return `could not be loaded: it threw ${String(error)}`
  const place = /^ParseError: ([^\n]*?)\s*\n.*:(\d+):(\d+)\s*$/.exec(error.message)
  if (place !== null) return `line ${place[2]}, column ${Number(place[3]) + 1}: ${place[1]}`
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EISDIR') return 'is a folder, expected a file'
  return `could not be loaded: ${error.name}: ${error.message.split('\n')[0]}`
}
