import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { KnownAgent, KnownAgents } from './known-agents.ts'

/** The agents of the configuration, and behind them the active runtime agents. No name of the configuration leads to one of these. */
export function withRuntimeAgents (configured: AgentRegistry, known: Pick<KnownAgents, 'find' | 'of'>): AgentRegistry {
  return {
    find: (idOrKey) => configured.find(idOrKey) ?? activeAgent(known.find(idOrKey)),
    list: (tenantId) => tenantId === undefined ? configured.list() : [...configured.list(), ...known.of(tenantId).flatMap((one) => activeAgent(one) ?? [])],
    all: configured.all,
    defaultAgent: configured.defaultAgent
  }
}

export function activeAgent (known: KnownAgent | undefined): Agent | undefined {
  return known?.row.active === true ? known.agent : undefined
}
