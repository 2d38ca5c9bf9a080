import { agentSchema, type Agent, type AgentDefinition, type ToolProvider } from '../../src/agents/agent.ts'
import { crewMember } from '../../src/agents/crew.ts'
import { agentId } from '../../src/agents/ids.ts'
import type { AgentRegistry } from '../../src/agents/registry.ts'
import type { Tool } from '../../src/tools/tool.ts'

/** An agent as the registry makes it of a definition; tools that are only named are left out. */
export function agentOf (definition: Partial<AgentDefinition>, model: string): Agent {
  const { agents, ...checked } = agentSchema.parse({ key: 'tester', ...definition })
  const tools = checked.tools.filter((tool): tool is Tool | ToolProvider => typeof tool !== 'string')
  return { ...checked, kind: 'agent', id: agentId(checked.key), name: checked.name ?? checked.key, model: checked.model ?? model, tools, crew: agents.map(crewMember) }
}

export function registryWith (agents: readonly Agent[]): AgentRegistry {
  return {
    find: (idOrKey) => agents.find((agent) => agent.id === idOrKey || agent.key === idOrKey),
    list: () => agents.filter((agent) => !agent.hidden),
    all: () => agents,
    defaultAgent: () => agents[0]
  }
}
