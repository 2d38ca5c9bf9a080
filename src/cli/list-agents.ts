import { readProject } from './read-project.ts'
import type { Environment, Terminal } from './terminal.ts'

/** One line per agent, hidden ones too: what an operator needs to name one in a request. */
export async function listAgents ({ env, cwd, out, err }: Environment & Terminal): Promise<number> {
  const project = await readProject({ env, cwd })
  if (!project.ok) {
    err(`${project.problems.join('\n')}\n`)
    return 1
  }
  const rows = project.registry.all().map(({ key, id, name, model, hidden }) => [key, id, name, model, hidden ? 'hidden' : ''])
  out(table([['KEY', 'ID', 'NAME', 'MODEL', ''], ...rows]))
  return 0
}

function table (rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`).join('')
}
