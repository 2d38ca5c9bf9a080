import type { z } from 'zod'
import { AppError } from '../errors.ts'
import { didYouMean } from './suggest.ts'

/** One mistake of a configuration: where it is and what was expected. */
export interface Fault {
  readonly file: string
  /** The agent, tool or attribute, as the reader finds it in the file; absent where the whole file is meant. */
  readonly entry: string | undefined
  readonly reason: string
}

/** All mistakes of a configuration at once. */
export class ConfigurationFaults extends AppError {
  readonly faults: readonly Fault[]

  constructor (faults: readonly Fault[], options: ErrorOptions = {}) {
    super('configuration_error', `The configuration has ${faults.length === 1 ? 'a mistake' : `${faults.length} mistakes`}:\n${faults.map((fault) => `  ${faultLine(fault)}`).join('\n')}`, options)
    this.name = 'ConfigurationFaults'
    this.faults = faults
  }
}

export function faultLine ({ file, entry, reason }: Fault): string {
  return [file, entry, reason].filter((part) => part !== undefined).join(': ')
}

/** What a failed parse complains about, in sentences that name the path and what was expected. */
export function issueReasons (issues: readonly z.core.$ZodIssue[], known: readonly string[]): string[] {
  return issues.flatMap((issue) => {
    const meant = meantBranch(issue)
    if (meant !== undefined) return issueReasons(meant, known)
    if (issue.code !== 'unrecognized_keys') return [withPath(issue.path, issueText(issue))]
    const names = issue.path.length === 0 ? known : []
    return issue.keys.map((key) => withPath(issue.path, `unknown attribute "${key}".${didYouMean(key, names)}`))
  })
}

/** Of several shapes the one that a value has but for what is wrong inside of it: its issues, as of the whole. */
function meantBranch (issue: z.core.$ZodIssue): z.core.$ZodIssue[] | undefined {
  if (issue.code !== 'invalid_union') return undefined
  const [meant, ...others] = issue.errors.filter((branch) => branch.every((inner) => inner.path.length > 0))
  return others.length > 0 ? undefined : meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function issueText (issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return plain(issue.message)
  const options = new Set(issue.errors.flatMap((branch) => branch.map((inner) => withPath(inner.path, plain(inner.message)))))
  return [...options].join(', or ')
}

function plain (message: string): string {
  return message.replace(/^Invalid (input|option): /, '').replace(/, received undefined$/, ', got nothing').replace(/, received /, ', got ')
}

function withPath (path: readonly PropertyKey[], text: string): string {
  const place = path.reduce<string>((left, part) => typeof part === 'number' ? `${left}[${part}]` : left === '' ? String(part) : `${left}.${String(part)}`, '')
  return place === '' ? text : `${place}: ${text}`
}
