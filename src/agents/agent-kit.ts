import type { ErrorIssue } from '../errors.ts'
import type { Tool } from '../tools/tool.ts'
import type { Agent } from './agent.ts'
import { checkAgent, type CheckContext } from './check-agent.ts'
import type { Entry } from './collect-entries.ts'
import { agentId } from './ids.ts'
import type { RuntimeSettings } from './runtime-settings.ts'

/** What runtime agents are made of: all that the configuration offers them under `runtimeAgents`, and nothing else. */
export interface AgentKit {
  readonly bases: readonly Agent[]
  /** A base by key, alias or id. */
  readonly base: (name: string) => Agent | undefined
  /** The agent of these settings, checked as those of the configuration are, or everything that keeps it from being one. */
  readonly make: (settings: RuntimeSettings, place: { readonly id: string, readonly tenantId: string }) => MadeAgent
}

export type MadeAgent =
  | { readonly agent: Agent, readonly issues?: undefined }
  | { readonly agent?: undefined, readonly issues: readonly ErrorIssue[] }

/** An agent of the configuration, abstract or not, and the entry that it was checked from. */
export interface Base { readonly agent: Agent, readonly entry: Entry }

export interface AgentKitParts {
  readonly bases: readonly Base[]
  /** Those that may be chosen, by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Full ids of the models that may be chosen. */
  readonly models: readonly string[]
  readonly context: CheckContext
}

export function createAgentKit ({ bases, tools, models, context }: AgentKitParts): AgentKit {
  // Keys last, so that an alias never takes one.
  const named = new Map([
    ...bases.flatMap((base) => base.agent.aliases.flatMap((alias) => [[alias, base], [agentId(alias), base]] as const)),
    ...bases.flatMap((base) => [[base.agent.key, base], [base.agent.id, base]] as const)
  ])
  // Of one name there is one tool: otherwise the configuration was refused.
  const offered: CheckContext = { ...context, tools: new Map([...context.tools, ...tools]) }

  return {
    bases: bases.map(({ agent }) => agent),
    base: (name) => named.get(name)?.agent,
    make (settings, { id, tenantId }) {
      const base = named.get(settings.base)
      if (base === undefined) return { issues: [{ path: 'base', message: `there is no base "${settings.base}" for runtime agents` }] }
      const issues = [...toolIssues(settings.tools, base.agent), ...modelIssues(settings.model)]
      if (issues.length > 0) return { issues }
      const { agent, problems } = checkAgent({ ...base.entry, value: valueOf(base, settings, id) }, offered)
      return agent === undefined ? { issues: problems.map(toIssue) } : { agent: Object.freeze({ ...agent, id, tenantId }) }
    }
  }

  function toolIssues (names: readonly string[], base: Agent): ErrorIssue[] {
    if (names.length > 0 && base.toolsForRun !== undefined) return [{ path: 'tools', message: 'the base chooses the tools of each run by itself' }]
    const own = new Set(base.tools.flatMap((tool) => typeof tool === 'function' ? [] : [tool.name]))
    return names.flatMap((name, index) => {
      const message = toolProblem(name, { own, again: names.indexOf(name) < index })
      return message === undefined ? [] : [{ path: `tools.${index}`, message }]
    })
  }

  function toolProblem (name: string, { own, again }: { own: ReadonlySet<string>, again: boolean }): string | undefined {
    if (!tools.has(name)) return `there is no tool "${name}" for runtime agents; ${expected([...tools.keys()])}`
    if (again) return `"${name}" is listed twice`
    return own.has(name) ? `the base has a tool "${name}" already` : undefined
  }

  function modelIssues (model: string | null): ErrorIssue[] {
    if (model === null) return []
    const known = context.resolveModel(model)
    if ('id' in known && models.includes(known.id)) return []
    return [{ path: 'model', message: `"${model}" is no model for runtime agents; ${expected(models)}` }]
  }
}

/** The entry of the base with what is said in its place. */
function valueOf ({ agent, entry }: Base, { name, description, instructions, model, tools, suggestions }: RuntimeSettings, key: string): object {
  const value = entry.value as { readonly tools?: unknown } // an object: an agent was made of it
  const own = value.tools ?? []
  return {
    ...value,
    key,
    name,
    aliases: [],
    hidden: false,
    directAccess: false,
    abstract: false,
    tools: Array.isArray(own) ? [...own as unknown[], ...tools] : own,
    ...(description === null ? {} : { description }),
    ...(instructions === null ? {} : { instructions }),
    ...(model === null ? {} : { model }),
    // How they are made is the base's to say.
    ...(suggestions === null || (suggestions && agent.suggestions !== undefined) ? {} : { suggestions })
  }
}

/** Problems begin with the attribute that they are in. */
function toIssue (problem: string): ErrorIssue {
  const [, field, message = problem] = /^(\w+)[^:]*: (.*)$/s.exec(problem) ?? []
  return { path: field ?? 'base', message }
}

function expected (names: readonly string[]): string {
  return names.length === 0 ? 'none may be chosen' : `expected one of ${names.join(', ')}`
}
