import type { Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { IntegrationView, Integrations } from '../tools/integrations.ts'
import type { Agent } from './agent.ts'
import { depthAllowed, membersFor, type Member } from './crew-members.ts'
import { groupToolName, memberToolNames } from './crew-names.ts'
import type { AgentRegistry } from './registry.ts'

/** What an agent can use, by the labels people know it by. */
export interface AgentToolsView {
  /** Those that are known before a run: what providers bring is not. */
  readonly tools: ReadonlyArray<{ readonly name: string, readonly label: string, readonly description: string }>
  readonly integrations: readonly IntegrationView[]
  /** Its crew, as deep as it may be asked. Hidden agents too: what they do is shown in every answer they take part in. */
  readonly children: readonly MemberToolsView[]
}

export interface MemberToolsView extends AgentToolsView, Pick<Agent, 'id' | 'name' | 'description'> {
  /** The tool that asks it; null where steps ask it and no model does. */
  readonly toolName: string | null
  readonly mode: Member['mode']
}

export interface ToolsViewContext {
  readonly agents: Pick<AgentRegistry, 'find'>
  readonly integrations: Pick<Integrations, 'list'>
  readonly permissions: Pick<Permissions, 'may'>
  readonly principal: Principal
}

// Every way to a member is listed, and where all know all there are more of them than anybody reads.
const maxMembers = 500

export function agentToolsView (root: Agent, { agents, integrations, permissions, principal }: ToolsViewContext): AgentToolsView {
  let left = maxMembers
  return viewOf(root, [])

  /** `above` are the ids of those that lead to the agent. */
  function viewOf (agent: Agent, above: readonly string[]): AgentToolsView {
    const tools = agent.tools.flatMap((tool) => typeof tool === 'function' ? [] : [{ name: tool.name, label: tool.title ?? tool.name, description: tool.description }])
    return { tools, integrations: integrations.list(agent.integrations, principal), children: childrenOf(agent, above, new Set(tools.map(({ name }) => name))) }
  }

  function childrenOf (agent: Agent, above: readonly string[], taken: ReadonlySet<string>): MemberToolsView[] {
    const { members } = membersFor(agent, { above, agents, mayView: (member) => permissions.may(principal, 'view_agent', member) })
    const names = toolNames(agent, members, taken)
    const path = [...above, agent.id]
    const within = members.flatMap((member, index) => path.length > depthAllowed(root, member.agent) ? [] : [{ ...member, toolName: names[index] ?? null }])
    left -= within.length
    if (left < 0) return []
    return within.map(({ agent: member, mode, toolName }) => ({ toolName, mode, id: member.id, name: member.name, description: member.description, ...viewOf(member, path) }))
  }
}

function toolNames ({ pipeline, delegation }: Agent, members: readonly Member[], taken: ReadonlySet<string>): readonly string[] {
  if (pipeline !== undefined) return []
  return delegation === 'group' ? members.map(({ mode }) => groupToolName(mode)) : memberToolNames(members.map(({ agent }) => agent), taken)
}
