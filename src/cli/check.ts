import { shownPath } from '../agents/config-file.ts'
import type { LoadedRegistry } from '../agents/load-registry.ts'
import { readProject } from './read-project.ts'
import type { Environment, Terminal } from './terminal.ts'

/** Says whether the server would start with this configuration, or everything that keeps it from doing so. */
export async function check (file: string | undefined, { env, cwd, out, err }: Environment & Terminal): Promise<number> {
  const project = await readProject({ cwd, env: file === undefined ? env : { ...env, PARLEY_CONFIG: file } })
  if (!project.ok) {
    err(`${project.problems.join('\n')}\n\n${counted(project.problems.length, 'problem')} found.\n`)
    return 1
  }
  for (const warning of project.registry.warnings) err(`warning: ${warning}\n`)
  out(`OK: ${summary(project.registry, cwd)}\n`)
  return 0
}

function summary ({ file, all, list, defaultAgent, models }: LoadedRegistry, cwd: string): string {
  const hidden = all().length - list().length
  const agents = `${counted(all().length, 'agent')}${hidden === 0 ? '' : ` (${hidden} hidden)`}`
  return [
    `${file === undefined ? 'built-in configuration' : shownPath(file, cwd)} holds ${agents}`,
    `default agent ${defaultAgent()?.key ?? 'none'}`,
    `default model ${models.defaultModel}`
  ].join(', ')
}

function counted (count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
