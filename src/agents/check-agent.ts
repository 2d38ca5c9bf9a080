import type { z } from 'zod'
import type { ModelFacts } from '../models/model-facts.ts'
import type { Tool } from '../tools/tool.ts'
import { agentSchema, type Agent, type ToolProvider } from './agent.ts'
import { unknownSources, withArtifacts } from './check-artifacts.ts'
import { ownerlessProblems } from './check-permissions.ts'
import { storageProblems } from './check-storage.ts'
import { schemaProblem, toolProblems } from './check-tool.ts'
import type { Entry } from './collect-entries.ts'
import { issueReasons } from './faults.ts'
import { checkSkills, skillTools, withCatalogue } from './skills/agent-skills.ts'
import type { Skill } from './skills/load-skill.ts'
import { ownFolderOf, skillToolNames } from './skills/skill-tools.ts'
import { settleAgent } from './settle-agent.ts'
import { didYouMean } from './suggest.ts'

export interface CheckContext {
  /** Tools of the configuration, which agents may name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Integrations of the configuration; one that is not usable as it is has no provider and was reported. */
  readonly integrations: ReadonlyMap<string, ToolProvider | undefined>
  /** What is known of a model, by its full id. */
  readonly factsOf: (id: string) => ModelFacts | undefined
  /** The full id of a model, or why it cannot be used. */
  readonly resolveModel: (id: string | undefined) => { readonly id: string } | { readonly problem: string }
}

export interface CheckedAgent {
  /** Absent when there are problems. */
  readonly agent: Agent | undefined
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** One entry, with everything that is wrong with it. */
export function checkAgent ({ value, places }: Entry, { tools, integrations, factsOf, resolveModel }: CheckContext): CheckedAgent {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return failed(['expected an agent made by defineAgent, an entry with its attributes, or a file'])
  const { kind = 'agent', ...attributes } = value as { kind?: unknown }
  if (kind !== 'agent') return failed([`expected an agent, got a ${String(kind)}`])
  const { data, wrong, reasons } = parseAttributes(attributes)
  const { skills, problems: skillProblems } = checkSkills(data.skills, places)
  const connected = resolveIntegrations(data.integrations, integrations)
  const listed = withArtifacts(withSkillTools(resolveTools(data.tools, tools), skills), data)
  // Tools that could not be read, or come when a run starts, may have any name.
  const isRead = !(['tools', 'integrations', 'artifacts', 'attachmentTools'] as const).some((name) => wrong.has(name))
  const own = { ...listed, complete: listed.complete && data.integrations.length === 0 && data.attachmentTools === undefined && isRead }
  const format = data.responseFormat === undefined ? undefined : schemaProblem(data.responseFormat)
  const model = resolveModel(data.model)
  const fallbacks = data.fallbackModels.map(resolveModel)
  const suggestions = resolveSuggestions(data.suggestions, resolveModel)
  const problems = [
    ...reasons,
    ...own.problems,
    ...skillProblems,
    ...pipelineProblems(data),
    ...storageProblems(data),
    ...ownerlessProblems('agents', data.permissions).map((problem) => `permissions${problem}`),
    ...connected.problems,
    ...format === undefined ? [] : [`responseFormat: ${format}`],
    ...'problem' in model ? [`model: ${model.problem}`] : [],
    ...fallbacks.flatMap((fallback, index) => 'problem' in fallback ? [`fallbackModels[${index}]: ${fallback.problem}`] : []),
    ...suggestions.problems,
    ...choiceProblems(data.toolChoice, own)
  ]
  if (problems.length > 0 || 'problem' in model) return failed(problems)
  const fallbackModels = fallbacks.flatMap((fallback) => 'id' in fallback ? [fallback.id] : [])
  const agent = settleAgent({ ...data, suggestions: suggestions.policy, instructions: withCatalogue(data.instructions, skills) }, { model: model.id, fallbackModels, tools: [...own.tools, ...connected.providers] })
  return { agent, problems, warnings: [...repeatedModels(agent), ...missingRequired(data.requiredTools, own), ...unknownSources(data, own), ...unknownFacts(agent, factsOf)] }
}

export interface Attributes {
  readonly data: z.output<typeof agentSchema>
  /** Attributes that are not as they should be; `data` has their defaults, so that the others can be checked further. */
  readonly wrong: ReadonlySet<PropertyKey | undefined>
  readonly reasons: readonly string[]
}

function parseAttributes (attributes: object): Attributes {
  const parsed = agentSchema.safeParse(attributes)
  if (parsed.success) return { data: parsed.data, wrong: new Set(), reasons: [] }
  const known = Object.keys(agentSchema.shape)
  const wrong = new Set(parsed.error.issues.map((issue) => issue.path[0]))
  const sound = Object.entries(attributes).filter(([name]) => known.includes(name) && !wrong.has(name))
  const data = agentSchema.parse({ key: 'faulty', ...Object.fromEntries(sound) })
  return { data, wrong, reasons: issueReasons(parsed.error.issues, known) }
}

export interface OwnTools {
  readonly tools: readonly (Tool | ToolProvider)[]
  readonly names: ReadonlySet<string>
  /** False where a provider may bring tools that are known only when a run starts. */
  readonly complete: boolean
  readonly problems: readonly string[]
}

function resolveTools (attribute: Attributes['data']['tools'], known: ReadonlyMap<string, Tool>): OwnTools {
  const listed = typeof attribute === 'function' ? [] : attribute
  const names = new Set<string>()
  const problems: string[] = []
  const tools: (Tool | ToolProvider)[] = []
  for (const [index, item] of listed.entries()) {
    const tool = typeof item === 'string' ? known.get(item) : item
    if (tool === undefined) {
      problems.push(`tools[${index}]: unknown tool "${String(item)}".${didYouMean(String(item), [...known.keys()])}`)
      continue
    }
    tools.push(tool)
    if (typeof tool === 'function') continue
    // Those of the configuration are checked where they are listed.
    if (typeof item !== 'string') problems.push(...toolProblems(tool).map((problem) => `tools[${index}]: ${problem}`))
    if (names.has(tool.name)) problems.push(`tools[${index}]: a second tool named "${tool.name}"`)
    names.add(tool.name)
  }
  return { tools, names, complete: typeof attribute !== 'function' && tools.every((tool) => typeof tool !== 'function'), problems }
}

/** The tools of an agent that lists skills. What reads the files of its own skill, if it is made of one, reads theirs too. */
function withSkillTools (own: OwnTools, skills: readonly Skill[]): OwnTools {
  if (skills.length === 0) return own
  const reader = own.tools.find((tool) => ownFolderOf(tool) !== undefined)
  const tools = own.tools.filter((tool) => tool !== reader)
  const taken = skillToolNames.filter((name) => tools.some((tool) => typeof tool !== 'function' && tool.name === name))
  return {
    tools: [...tools, ...skillTools(skills, ownFolderOf(reader))],
    names: new Set([...own.names, ...skillToolNames]),
    complete: own.complete,
    problems: [...own.problems, ...taken.map((name) => `skills: the agent has a tool "${name}" of its own, which is the name of the one that reads skills`)]
  }
}

/** A pipeline calls what it needs by itself. */
function pipelineProblems ({ pipeline, ...data }: Attributes['data']): string[] {
  if (pipeline === undefined) return []
  const unused = (['tools', 'skills', 'requiredTools', 'artifacts', 'toolArtifacts'] as const).filter((name) => typeof data[name] === 'function' || Object.keys(data[name]).length > 0)
  return unused.map((name) => `${name}: an agent of steps has none; its steps call what they need`)
}

function resolveIntegrations (listed: readonly string[], known: CheckContext['integrations']): { providers: readonly ToolProvider[], problems: readonly string[] } {
  const problems = listed.flatMap((name, index) => {
    if (!known.has(name)) return [`integrations[${index}]: unknown integration "${name}".${didYouMean(name, [...known.keys()])}`]
    return listed.indexOf(name) < index ? [`integrations[${index}]: "${name}" is listed twice`] : []
  })
  return { providers: listed.flatMap((name) => known.get(name) ?? []), problems }
}

function choiceProblems (choice: Attributes['data']['toolChoice'], { names, complete }: OwnTools): string[] {
  if (typeof choice === 'string' || typeof choice === 'function' || names.has(choice.tool) || !complete) return []
  return [`toolChoice: the agent has no tool "${choice.tool}".${didYouMean(choice.tool, [...names])}`]
}

function missingRequired (required: readonly string[], { names, complete }: OwnTools): string[] {
  if (!complete) return []
  return required.filter((name) => !names.has(name)).map((name) => `requiredTools: the agent has no tool "${name}", so nothing is required.${didYouMean(name, [...names])}`)
}

function repeatedModels ({ model, fallbackModels }: Agent): string[] {
  return fallbackModels.flatMap((id, index) => [model, ...fallbackModels.slice(0, index)].includes(id) ? [`fallbackModels[${index}]: "${id}" has been asked before.`] : [])
}

function resolveSuggestions (asked: Attributes['data']['suggestions'], resolveModel: CheckContext['resolveModel']): { policy: typeof asked, problems: readonly string[] } {
  if (typeof asked !== 'object' || asked.model === undefined) return { policy: asked, problems: [] }
  const model = resolveModel(asked.model)
  return 'problem' in model ? { policy: asked, problems: [`suggestions.model: ${model.problem}`] } : { policy: { ...asked, model: model.id }, problems: [] }
}

/** What an agent asks for that needs to be known of its model, and is not. */
function unknownFacts ({ budget, compaction, model, fallbackModels, suggestions }: Agent, factsOf: CheckContext['factsOf']): string[] {
  const windowless = compaction !== undefined && factsOf(model)?.contextWindow === undefined
  const unpriced = budget?.costUsd === undefined ? [] : [...new Set([model, ...fallbackModels, ...typeof suggestions === 'object' ? [suggestions.model ?? model] : []])].filter((id) => factsOf(id)?.prices === undefined)
  return [
    ...windowless ? [`compaction: nothing is known of the context window of "${model}", so it is off. Say it under "models" of the configuration.`] : [],
    ...unpriced.map((id) => `budget: nothing is known of the price of "${id}", so its calls count as no dollars. Say it under "models" of the configuration.`)
  ]
}

function failed (problems: readonly string[]): CheckedAgent {
  return { agent: undefined, problems, warnings: [] }
}
