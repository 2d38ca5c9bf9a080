import { z } from 'zod'
import { AppError, invalidRequest } from '../../errors.ts'
import { defineTool, type Tool } from '../../tools/tool.ts'
import { skillFileName, type Skill } from './load-skill.ts'
import { findResource, listResources, readResource, resourceSegments } from './resource.ts'
import { readSkillFile } from './skill-file.ts'

export const skillToolNames = ['read_skill', 'read_resource'] as const

const maxPathLength = 1_000

/** Gives the instructions of one of the skills, as they are in its folder now, and names the files beside them. */
export function createSkillReader (skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  return defineTool({
    name: 'read_skill',
    title: 'Read a skill',
    description: 'Reads the instructions of one of the available skills.',
    input: z.object({ name: z.enum([...byName.keys()]).describe('The name of the skill') }),
    execute: async ({ name }) => {
      const skill = byName.get(name)
      if (skill === undefined) throw invalidRequest(`There is no skill "${name}".`)
      return [await bodyOf(skill), ...listed((await listResources(skill.folder)).map((path) => `${skill.name}/${path}`))].join('\n\n')
    }
  })
}

export interface ResourceFolders {
  /** The folder of an agent that is made of a skill. */
  readonly own?: string | undefined
  readonly skills: readonly Skill[]
}

const ownFolders = new WeakMap<Tool, string>()

/**
 * Gives a text file of the folders. A path counts from the own folder, from a skill's name, or, where only one of the
 * skills has such a file, from that skill's folder: that is how its instructions speak of it.
 */
export function createResourceReader (folders: ResourceFolders): Tool {
  const tool = defineTool({
    name: 'read_resource',
    title: 'Read a file',
    description: 'Reads a text file that the instructions of a skill refer to.',
    input: z.object({ path: z.string().max(maxPathLength).describe('The path of the file in the folder of the skill') }),
    execute: async ({ path }) => {
      const paths = await locate(folders, path)
      const [first, ...others] = paths
      if (first === undefined) throw new AppError('not_found', [`There is no file "${path}".`, ...listed(await allPaths(folders))].join(' '))
      if (others.length > 0) throw invalidRequest(`Several skills have a file "${path}". Put the name of the skill and a "/" before the path.`)
      return await readResource(first, path)
    }
  })
  if (folders.own !== undefined) ownFolders.set(tool, folders.own)
  return tool
}

/** The folder of an agent that is made of a skill, as its tool knows it. */
export function ownFolderOf (tool: unknown): string | undefined {
  return ownFolders.get(tool as Tool) // another value is no key of it
}

async function locate ({ own, skills }: ResourceFolders, path: string): Promise<readonly string[]> {
  const segments = resourceSegments(path)
  const inOwn = own === undefined ? undefined : await findResource(own, segments)
  if (inOwn !== undefined) return [inOwn]
  const named = skills.find(({ name }) => name === segments[0])
  const inNamed = named === undefined || segments.length === 1 ? undefined : await findResource(named.folder, segments.slice(1))
  if (inNamed !== undefined) return [inNamed]
  const found = await Promise.all(skills.map(({ folder }) => findResource(folder, segments)))
  return [...new Set(found.filter((candidate) => candidate !== undefined))]
}

async function bodyOf ({ name, folder }: Skill): Promise<string> {
  const path = await findResource(folder, [skillFileName])
  const file = path === undefined ? undefined : readSkillFile(await readResource(path, skillFileName))
  if (file?.ok !== true) throw new AppError('tool_failed', `The skill "${name}" cannot be read any more.`)
  return file.body
}

async function allPaths ({ own, skills }: ResourceFolders): Promise<readonly string[]> {
  const ofSkills = await Promise.all(skills.map(async ({ name, folder }) => (await listResources(folder)).map((path) => `${name}/${path}`)))
  return [...own === undefined ? [] : await listResources(own), ...ofSkills.flat()]
}

function listed (paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`Files for read_resource: ${paths.join(', ')}`]
}
