import { z } from 'zod'
import type { Tool } from '../tools/tool.ts'
import type { Agent } from './agent.ts'
import { createAgentKit, type AgentKit, type Base } from './agent-kit.ts'
import { checkAgent, type CheckContext } from './check-agent.ts'
import type { CheckedAgents, Report } from './check-config.ts'
import { toolProblems } from './check-tool.ts'
import { crewProblems } from './crew.ts'
import { issueReasons } from './faults.ts'
import { didYouMean } from './suggest.ts'

const sectionSchema = z.strictObject({
  bases: z.array(z.unknown(), 'expected a list of agents, or of their keys').min(1, 'expected at least one agent, or its key'),
  tools: z.array(z.unknown(), 'expected a list of tools, or of their names').default([]),
  models: z.array(z.string().min(1), 'expected a list of model ids').default([])
})

export interface RuntimeAgentsContext {
  readonly checked: CheckedAgents
  readonly context: CheckContext
  /** Whether there are files that could not be read: an agent that is not there may be in one of them. */
  readonly unread: boolean
  readonly report: Report
  /** Takes what the operator should know and what does not stop the start. */
  readonly warn: (entry: string, warning: string) => void
}

/** What the configuration says under `runtimeAgents`; what is wrong with it is reported. */
export function checkRuntimeAgents (value: unknown, { checked, context, unread, report, warn }: RuntimeAgentsContext): AgentKit | undefined {
  if (value === undefined) return undefined
  const parsed = sectionSchema.safeParse(value)
  if (!parsed.success) {
    for (const reason of issueReasons(parsed.error.issues, Object.keys(sectionSchema.shape))) report('runtimeAgents', reason)
    return undefined
  }
  const bases = checkBases(parsed.data.bases, { checked, unread, report })
  const tools = checkOffered(parsed.data.tools, context.tools, report)
  const models = checkChoices(parsed.data.models, context, report)
  for (const base of bases) for (const model of models) for (const warning of warningsOf(base, model, context)) warn('runtimeAgents', `base "${base.agent.key}" with the model "${model}": ${warning}`)
  return createAgentKit({ bases, tools, models, context })
}

function checkBases (items: readonly unknown[], { checked, unread, report }: Pick<RuntimeAgentsContext, 'checked' | 'unread' | 'report'>): readonly Base[] {
  const all = [...checked.origins.keys()]
  const bases = new Map<Agent, Base>()
  for (const [index, item] of items.entries()) {
    const at = `runtimeAgents.bases[${index}]`
    const name = nameOf(item)
    const agent = all.find(({ key, id }) => key === name || id === name) ?? all.find(({ aliases }) => aliases.some((alias) => alias === name))
    const entry = agent === undefined ? undefined : checked.origins.get(agent)
    if (name === undefined) report(at, 'expected an agent of this configuration, or the key of one')
    else if (agent === undefined || entry === undefined) reportMissing(name, at)
    else if (bases.has(agent)) report(at, `"${name}" is listed twice`)
    else {
      bases.set(agent, { agent, entry })
      // Of the others this is seen to where they are listed.
      if (agent.abstract) for (const problem of crewProblems(agent, checked.names, checked.faulty)) report(at, problem)
    }
  }
  return [...bases.values()]

  /** A faulty one is reported with its own faults and not as missing too. */
  function reportMissing (name: string, at: string): void {
    if (!unread && !checked.faulty.has(name)) report(at, `no agent "${name}" in this configuration.${didYouMean(name, all.map(({ key }) => key))}`)
  }
}

/** The key of an agent that is given as it is, or the name one is called by. */
function nameOf (item: unknown): string | undefined {
  const name = typeof item === 'object' && item !== null ? (item as { key?: unknown }).key : item
  return typeof name === 'string' && name !== '' ? name : undefined
}

function checkOffered (items: readonly unknown[], known: ReadonlyMap<string, Tool>, report: Report): ReadonlyMap<string, Tool> {
  const offered = new Map<string, Tool>()
  for (const [index, item] of items.entries()) {
    const at = `runtimeAgents.tools[${index}]`
    const tool = typeof item === 'string' ? known.get(item) : item
    if (tool === undefined) {
      report(at, `unknown tool "${String(item)}".${didYouMean(String(item), [...known.keys()])}`)
      continue
    }
    // Those of the configuration are checked where they are listed.
    const problems = typeof item === 'string' ? [] : toolProblems(tool)
    for (const problem of problems) report(at, problem)
    if (problems.length > 0) continue
    const { name } = tool as Tool // nothing is wrong with it
    if (offered.has(name)) report(at, `a second tool named "${name}"`)
    else if (known.has(name) && known.get(name) !== tool) report(at, `"tools" has another tool named "${name}"`)
    else offered.set(name, tool as Tool)
  }
  return offered
}

/** Full ids. */
function checkChoices (models: readonly string[], { resolveModel }: CheckContext, report: Report): readonly string[] {
  const ids = new Set<string>()
  for (const [index, name] of models.entries()) {
    const model = resolveModel(name)
    if ('problem' in model) report(`runtimeAgents.models[${index}]`, model.problem)
    else if (ids.has(model.id)) report(`runtimeAgents.models[${index}]`, `a second entry for the model "${model.id}"`)
    else ids.add(model.id)
  }
  return [...ids]
}

/** What a base asks for that is known of its own model, and not of one that may be chosen in its place. */
function warningsOf ({ agent, entry }: Base, model: string, context: CheckContext): readonly string[] {
  const value = entry.value as object // an agent was made of it
  const before = new Set(checkAgent(entry, context).warnings)
  return model === agent.model ? [] : checkAgent({ ...entry, value: { ...value, model } }, context).warnings.filter((warning) => !before.has(warning))
}
