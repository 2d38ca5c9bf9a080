import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, invalidRequest } from '../../errors.ts'
import { isInside, skillFileName } from './load-skill.ts'
import { decodeText, maxSkillBytes } from './skill-text.ts'

// How many files of a skill are told of; the others can be read all the same.
const maxListed = 100
// How deep they are looked for.
const maxDepth = 4

/**
 * The names a path is made of. Throws invalid_request for one that could lead out of a folder, or to what is hidden
 * there: absolute, with `..` or NUL, or with a name that begins with a dot. Nothing in it is decoded, so `%2e` is a name
 * like any other.
 */
export function resourceSegments (path: string): readonly string[] {
  const segments = path.split('/').filter((segment, index) => segment !== '.' && (segment !== '' || index === 0))
  const refused = path.includes('\0') || path.includes('\\') || /^[A-Za-z]:/.test(path) || segments.some((segment) => segment === '' || segment.startsWith('.'))
  if (refused || segments.length === 0) throw leaves(path)
  return segments
}

/** The real path of a file in the folder; undefined where there is none. Throws invalid_request for a link that leads out of it. */
export async function findResource (folder: string, segments: readonly string[]): Promise<string | undefined> {
  const root = await found(realpath(folder))
  const path = root === undefined ? undefined : await found(realpath(join(root, ...segments)))
  if (root === undefined || path === undefined) return undefined
  if (!isInside(root, path)) throw leaves(segments.join('/'))
  return path
}

/** The text of a file. Throws invalid_request, payload_too_large or file_unsupported, in words for the model; `shown` is what it calls the file. */
export async function readResource (path: string, shown: string): Promise<string> {
  // Not a link, which findResource has followed; and never waiting for the writer of a pipe.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const status = await handle.stat()
    if (!status.isFile()) throw invalidRequest(`"${shown}" is not a file.`)
    if (status.size > maxSkillBytes) throw new AppError('payload_too_large', `"${shown}" has ${status.size} bytes; at most ${maxSkillBytes} can be read.`)
    const text = decodeText(await handle.readFile())
    if (text === undefined) throw new AppError('file_unsupported', `"${shown}" is not text, so it cannot be read.`)
    return text
  } finally {
    await handle.close()
  }
}

/** Paths of the files beside SKILL.md that can be asked for, in order of their names. */
export async function listResources (folder: string): Promise<readonly string[]> {
  const paths: string[] = []
  await gather([])
  return paths

  async function gather (parents: readonly string[]): Promise<void> {
    const entries = await found(readdir(join(folder, ...parents), { withFileTypes: true })) ?? []
    for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (paths.length >= maxListed) return
      const segments = [...parents, entry.name]
      if (entry.name.startsWith('.') || segments.join('/') === skillFileName) continue
      if (entry.isFile()) paths.push(segments.join('/'))
      else if (entry.isDirectory() && segments.length < maxDepth) await gather(segments)
    }
  }
}

function leaves (path: string): AppError {
  return invalidRequest(`"${path}" is not the path of a file in the folder of the skill. Expected one such as "references/rates.md".`)
}

const absentCodes: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

async function found<T> (reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (absentCodes.has((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  })
}
