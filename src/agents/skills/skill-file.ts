import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { issueReasons } from '../faults.ts'

/** What stands above the instructions of a SKILL.md. */
export const skillHeadSchema = z.strictObject({
  name: z.string().max(64, 'expected at most 64 characters').regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'expected small letters and digits, with a single "-" between words'),
  description: z.string().trim().min(1, 'expected a line on what the skill is for'),
  metadata: z.record(z.string(), z.unknown()).default({})
})

export type SkillHead = z.output<typeof skillHeadSchema>

export type SkillFile =
  | { readonly ok: true, readonly head: SkillHead, readonly body: string }
  | { readonly ok: false, readonly problems: readonly string[] }

const fence = '---'

/** Reads a SKILL.md: YAML between two lines of `---`, then the instructions. Names everything that is wrong with it. */
export function readSkillFile (text: string): SkillFile {
  const lines = text.split(/\r?\n/)
  const isFence = (line: string) => line.trimEnd() === fence
  const end = lines.findIndex((line, index) => index > 0 && isFence(line))
  if (!isFence(lines[0] ?? '') || end === -1) return { ok: false, problems: [`expected front matter between two lines of "${fence}" at the top`] }
  const read = readHead(lines.slice(1, end).join('\n'))
  return 'problems' in read ? { ok: false, problems: read.problems } : { ok: true, head: read.head, body: lines.slice(end + 1).join('\n').trim() }
}

function readHead (text: string): { readonly head: SkillHead } | { readonly problems: readonly string[] } {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) {
    const { line, col } = counter.linePos(error.pos[0])
    // The fence is the first line of the file.
    return { problems: [`line ${line + 1}, column ${col}: ${error.message}`] }
  }
  const parsed = skillHeadSchema.safeParse(document.toJS() ?? {})
  return parsed.success ? { head: parsed.data } : { problems: issueReasons(parsed.error.issues, Object.keys(skillHeadSchema.shape)) }
}
