import { modelFactsSchema, type ModelFacts } from '../models/model-facts.ts'
import { defaultProvider, fullModelId, providerOf, providerSchema, type ProviderConfig } from '../models/providers.ts'
import type { Tool } from '../tools/tool.ts'
import type { Agent } from './agent.ts'
import { checkAgent, type CheckContext } from './check-agent.ts'
import { storageClashes } from './check-storage.ts'
import { toolProblems } from './check-tool.ts'
import type { Entry } from './collect-entries.ts'
import { crewProblems } from './crew.ts'
import { issueReasons, type Fault } from './faults.ts'
import { agentId } from './ids.ts'
import { nameTable } from './name-table.ts'
import { didYouMean } from './suggest.ts'

/** Takes one mistake: in which entry of the configuration, and what it is. */
export type Report = (entry: string | undefined, reason: string) => void

export interface CheckedAgents {
  readonly registered: readonly Agent[]
  readonly names: ReadonlyMap<string, Agent>
  /** Where each of the usable agents comes from, those that are bases only too. */
  readonly origins: ReadonlyMap<Agent, Entry>
  /** Keys of agents that are bases only. */
  readonly abstract: readonly string[]
  /** Keys of entries that are not usable as they are. */
  readonly faulty: ReadonlySet<unknown>
  readonly warnings: readonly string[]
  readonly faults: readonly Fault[]
}

/** The usable providers; the others are reported. */
export function checkProviders (providers: Readonly<Record<string, unknown>>, report: Report): Record<string, ProviderConfig> {
  const usable: Record<string, ProviderConfig> = {}
  for (const [name, value] of Object.entries(providers)) {
    const parsed = providerSchema.safeParse(value)
    if (parsed.success) usable[name] = parsed.data
    else for (const reason of issueReasons(parsed.error.issues, Object.keys(providerSchema.shape))) report(`providers.${name}`, reason)
  }
  return usable
}

/** What is known of models, by full id. Whether their providers have a key does not matter: not every model is in use. */
export function checkModels (models: Readonly<Record<string, unknown>>, providers: readonly string[], report: Report): ReadonlyMap<string, ModelFacts> {
  const known = [defaultProvider, ...providers]
  const facts = new Map<string, ModelFacts>()
  for (const [name, value] of Object.entries(models)) {
    const entry = `models.${name}`
    const id = fullModelId(name)
    const provider = providerOf(id)
    const parsed = modelFactsSchema.safeParse(value)
    if (provider !== undefined && !known.includes(provider)) report(entry, `there is no model provider "${provider}".${didYouMean(provider, known)}`)
    if (facts.has(id)) report(entry, `a second entry for the model "${id}"`)
    if (parsed.success) facts.set(id, parsed.data)
    else for (const reason of issueReasons(parsed.error.issues, Object.keys(modelFactsSchema.shape))) report(entry, reason)
  }
  return facts
}

/** The tools that agents may name. */
export function checkTools (tools: readonly unknown[], report: Report): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>()
  for (const [index, value] of tools.entries()) {
    const problems = toolProblems(value)
    for (const problem of problems) report(`tools[${index}]`, problem)
    const name = (value as Partial<Tool> | null)?.name
    if (typeof name !== 'string') continue
    if (byName.has(name)) report(`tools[${index}]`, `a second tool named "${name}"`)
    // True enough where it is faulty: the name is known, and the start is refused anyway.
    byName.set(name, value as Tool)
  }
  return byName
}

export function checkAgents (entries: readonly Entry[], context: CheckContext): CheckedAgents {
  const faults: Fault[] = []
  const warnings: string[] = []
  const agents: Agent[] = []
  const origins = new Map<Agent, Entry>()
  const faulty = new Set<unknown>()
  for (const entry of entries) {
    const checked = checkAgent(entry, context)
    for (const reason of checked.problems) faults.push({ file: entry.file, entry: entry.label, reason })
    for (const warning of checked.warnings) warnings.push(`${entry.file}: ${entry.label}: ${warning}`)
    if (checked.agent === undefined) {
      faulty.add((entry.value as { key?: unknown } | null)?.key)
      continue
    }
    agents.push(checked.agent)
    origins.set(checked.agent, entry)
  }
  const registered = agents.filter((agent) => !agent.abstract)
  const names = nameTable(registered)
  for (const { agent, holder, reason } of names.collisions) addFault(agent, `${reason} in ${origins.get(holder)?.file ?? ''}`)
  for (const { agent, reason } of storageClashes(agents)) addFault(agent, reason)
  for (const agent of registered) for (const reason of crewProblems(agent, names.agents, faulty)) addFault(agent, reason)
  return { registered, names: names.agents, origins, abstract: agents.filter((agent) => agent.abstract).map((agent) => agent.key), faulty, warnings, faults }

  function addFault (agent: Agent, reason: string): void {
    const at = origins.get(agent)
    faults.push({ file: at?.file ?? '', entry: at?.label, reason })
  }
}

/** Why the agent cannot be where chats without one go to. */
export function defaultAgentProblem (wanted: string, { names, abstract, faulty }: CheckedAgents): string | undefined {
  const agent = names.get(wanted)
  // It is reported with its own faults and not as missing too.
  if (agent === undefined && faulty.has(wanted)) return undefined
  if (agent === undefined && abstract.some((key) => key === wanted || agentId(key) === wanted)) return `agent "${wanted}" is abstract and cannot be chatted with`
  if (agent === undefined) return `no agent "${wanted}".${didYouMean(wanted, [...names.keys()])}`
  if (agent.hidden && !agent.directAccess) return `agent "${wanted}" is hidden and has no directAccess, so nobody can chat with it`
  return undefined
}
