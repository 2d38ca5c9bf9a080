import { basename, join } from 'node:path'
import type { Tool } from '../../tools/tool.ts'
import { defineAgent, type AgentDefinition, type DefinedAgent } from '../agent.ts'
import { ConfigurationFaults } from '../faults.ts'
import { findSkillFolder, loadSkill, skillFileName } from './load-skill.ts'
import { createResourceReader } from './skill-tools.ts'

/** What an agent has besides its skill. */
export type SkillAgentDefinition = Omit<AgentDefinition, 'key' | 'instructions'> & {
  /** The name of the skill when absent. */
  readonly key?: string
}

/**
 * An agent that is made of a skill: its instructions are the skill's, its files are read with `read_resource`. A relative
 * folder counts from the configured file that is being loaded, outside of a configuration from the working directory.
 * Throws ConfigurationFaults for a skill that cannot be used, a ZodError for what defineAgent refuses.
 */
export function defineSkillAgent (folder: string | URL, definition: SkillAgentDefinition = {}): DefinedAgent {
  const path = findSkillFolder(folder, [process.cwd()])
  if (path === undefined) throw new ConfigurationFaults([{ file: String(folder), entry: undefined, reason: 'is not the path of a folder' }])
  const loaded = loadSkill(path)
  if (!loaded.ok) throw new ConfigurationFaults(loaded.problems.map((reason) => ({ file: join(path, skillFileName), entry: undefined, reason })))
  const { skill, body } = loaded
  const tools = withReader(definition.tools ?? [], createResourceReader({ own: skill.folder, skills: [] }))
  return defineAgent({ description: skill.description, ...definition, key: definition.key ?? skill.name, instructions: body, tools })
}

/** A hook chooses among the reader too. */
function withReader (given: NonNullable<AgentDefinition['tools']>, reader: Tool): NonNullable<AgentDefinition['tools']> {
  return typeof given === 'function' ? (context, tools) => given(context, [...tools, reader]) : [...given, reader]
}

/** What stands for an agent whose skill cannot be used: an agent that lists it, so that the loader finds the same fault. */
export function skillAgentDraft (folder: string | URL, definition: SkillAgentDefinition): object {
  const name = basename(String(folder))
  return { ...definition, kind: 'agent', key: definition.key ?? (/^[a-z0-9-]+$/.test(name) ? name : 'skill'), skills: [...definition.skills ?? [], folder] }
}
