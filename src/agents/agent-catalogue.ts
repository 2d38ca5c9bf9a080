import type { Principal } from '../auth/principal.ts'
import { notFound } from '../errors.ts'
import type { Integrations } from '../tools/integrations.ts'
import type { Agent } from './agent.ts'
import { agentToolsView, type AgentToolsView } from './agent-tools-view.ts'
import { agentView, type AgentView } from './agent-view.ts'
import type { AgentsAndPermissions } from './askable-agent.ts'

/** The agents as callers may know them: without the hidden ones and those they may not view. */
export interface AgentCatalogue {
  /** In the order of the configuration; then the runtime agents of the caller's tenant, in the order they were made. */
  readonly list: (principal: Principal) => readonly Agent[]
  readonly find: (principal: Principal, name: string) => Agent | undefined
  /** not_found where it is not theirs to know; with its instructions for those who manage it. */
  readonly view: (principal: Principal, name: string) => AgentView & { readonly instructions?: string }
  readonly tools: (principal: Principal, name: string) => AgentToolsView
}

export function createAgentCatalogue ({ agents, permissions, integrations }: AgentsAndPermissions & { readonly integrations: Pick<Integrations, 'list'> }): AgentCatalogue {
  const mayView = (principal: Principal, agent: Agent) => permissions.may(principal, 'view_agent', agent)
  return {
    list: (principal) => agents.list(principal.tenantId).filter((agent) => mayView(principal, agent)),
    find,
    view (principal, name) {
      const agent = get(principal, name)
      return permissions.may(principal, 'manage_agent', agent) ? { ...agentView(agent), instructions: agent.instructions } : agentView(agent)
    },
    tools: (principal, name) => agentToolsView(get(principal, name), { agents, integrations, permissions, principal })
  }

  function find (principal: Principal, name: string): Agent | undefined {
    const agent = agents.find(name)
    return agent === undefined || agent.hidden || !mayView(principal, agent) ? undefined : agent
  }

  function get (principal: Principal, name: string): Agent {
    const agent = find(principal, name)
    if (agent === undefined) throw notFound('agent')
    return agent
  }
}
