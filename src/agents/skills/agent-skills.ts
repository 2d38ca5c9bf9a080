import type { Tool } from '../../tools/tool.ts'
import { findSkillFolder, loadSkill, skillFileName, type Skill } from './load-skill.ts'
import { createResourceReader, createSkillReader } from './skill-tools.ts'

export interface CheckedSkills {
  readonly skills: readonly Skill[]
  readonly problems: readonly string[]
}

/** The skills an agent lists, with everything that is wrong with them. */
export function checkSkills (listed: ReadonlyArray<string | URL>, places: readonly string[]): CheckedSkills {
  const skills = new Map<string, Skill>()
  const problems: string[] = []
  for (const [index, item] of listed.entries()) {
    const report = (problem: string) => { problems.push(`skills[${index}]: ${problem}`) }
    const folder = findSkillFolder(item, places)
    const loaded = folder === undefined ? undefined : loadSkill(folder)
    if (loaded === undefined) report(`"${String(item)}" is not the path of a folder`)
    else if (!loaded.ok) for (const problem of loaded.problems) report(`"${String(item)}": ${skillFileName}: ${problem}`)
    else if (skills.has(loaded.skill.name)) report(`"${String(item)}": a second skill named "${loaded.skill.name}"`)
    else skills.set(loaded.skill.name, loaded.skill)
  }
  return { skills: [...skills.values()], problems }
}

/** The instructions with the list of skills behind them, which is all a model is told of a skill before it reads it. */
export function withCatalogue (instructions: string, skills: readonly Skill[]): string {
  if (skills.length === 0) return instructions
  const lines = skills.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ')}`)
  return [...instructions === '' ? [] : [instructions], [catalogueHead, ...lines].join('\n')].join('\n\n')
}

/** The tools that read them. `own`: the folder of an agent that is made of a skill and lists others besides. */
export function skillTools (skills: readonly Skill[], own: string | undefined): readonly Tool[] {
  return skills.length === 0 ? [] : [createSkillReader(skills), createResourceReader({ own, skills })]
}

const catalogueHead = 'Available skills, which are instructions for particular tasks. When one fits the task, call read_skill with its name first and do as it says; files it refers to are read with read_resource.'
