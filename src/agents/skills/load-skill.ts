import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSkillFile, type SkillHead } from './skill-file.ts'
import { decodeText, maxSkillBytes } from './skill-text.ts'

export interface Skill extends SkillHead {
  /** Absolute. */
  readonly folder: string
}

/** `problems`: what is wrong with its SKILL.md. */
export type LoadedSkill =
  | { readonly ok: true, readonly skill: Skill, readonly body: string }
  | { readonly ok: false, readonly problems: readonly string[] }

export const skillFileName = 'SKILL.md'

/** Where a skill is: a relative path counts from the first of the places where there is something of that name. */
export function findSkillFolder (folder: string | URL, places: readonly string[]): string | undefined {
  if (typeof folder !== 'string' || folder.startsWith('file:')) return pathOf(folder)
  if (isAbsolute(folder)) return folder
  const candidates = places.map((place) => resolve(place, folder))
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false }) !== undefined) ?? candidates[0]
}

/** Checks the whole of a skill's SKILL.md, at start: what a run reads later was readable once. */
export function loadSkill (folder: string): LoadedSkill {
  const read = readText(folder)
  if ('problem' in read) return { ok: false, problems: [read.problem] }
  const file = readSkillFile(read.text)
  return file.ok ? { ok: true, skill: Object.freeze({ ...file.head, folder }), body: file.body } : file
}

/** Whether a file is in a folder; both are real paths, without links. */
export function isInside (folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function pathOf (url: string | URL): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined // of another protocol, or of another host
  }
}

function readText (folder: string): { readonly text: string } | { readonly problem: string } {
  const path = join(folder, skillFileName)
  try {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined) return { problem: 'does not exist' }
    if (!status.isFile()) return { problem: 'is not a file' }
    if (!isInside(realpathSync(folder), realpathSync(path))) return { problem: 'is a link that leads out of its folder' }
    if (status.size > maxSkillBytes) return { problem: `has ${status.size} bytes, expected at most ${maxSkillBytes}` }
    const text = decodeText(readFileSync(path))
    return text === undefined ? { problem: 'is not UTF-8 text' } : { text }
  } catch (error) {
    return { problem: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}` } // what node:fs throws has a code
  }
}
