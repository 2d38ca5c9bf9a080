import { agentSchema, type Agent, type AgentDefinition, type ToolProvider } from '../../src/agents/agent.ts'
import { createAgentKit, type AgentKit } from '../../src/agents/agent-kit.ts'
import type { AgentRegistry } from '../../src/agents/registry.ts'
import { settleAgent } from '../../src/agents/settle-agent.ts'
import type { Tool } from '../../src/tools/tool.ts'

/** An agent as the registry makes it of a definition; tools that are only named are left out. */
export function agentOf (definition: Partial<AgentDefinition>, model: string): Agent {
  const checked = agentSchema.parse({ key: 'tester', ...definition })
  const tools = typeof checked.tools === 'function' ? [] : checked.tools.filter((tool): tool is Tool | ToolProvider => typeof tool !== 'string')
  return settleAgent(checked, { model: checked.model ?? model, fallbackModels: checked.fallbackModels, tools })
}

/** All that these definitions offer to runtime agents. */
export function kitWith (definitions: readonly AgentDefinition[], { model, tools = [] }: { readonly model: string, readonly tools?: readonly Tool[] }): AgentKit {
  const bases = definitions.map((value) => ({ agent: agentOf(value, model), entry: { file: 'test', label: value.key, places: [], value } }))
  const context = { tools: new Map(), integrations: new Map(), factsOf: () => undefined, resolveModel: (id = model) => ({ id }) }
  return createAgentKit({ bases, tools: new Map(tools.map((tool) => [tool.name, tool])), models: [], context })
}

export function registryWith (agents: readonly Agent[]): AgentRegistry {
  return {
    find: (idOrKey) => agents.find((agent) => agent.id === idOrKey || agent.key === idOrKey),
    list: () => agents.filter((agent) => !agent.hidden),
    all: () => agents,
    defaultAgent: () => agents[0]
  }
}
