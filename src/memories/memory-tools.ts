import type { Tool } from '../tools/tool.ts'

/** The tools of a turn: those of its memory take the place of the agent's that have the same name, others come last. */
export function withMemoryTools (tools: readonly Tool[], ofMemory: readonly Tool[]): readonly Tool[] {
  const byName = new Map(ofMemory.map((tool) => [tool.name, tool]))
  const own = new Set(tools.map(({ name }) => name))
  return [...tools.map((tool) => byName.get(tool.name) ?? tool), ...[...byName.values()].filter(({ name }) => !own.has(name))]
}
