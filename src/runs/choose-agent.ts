import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry, ModelRegistry } from '../agents/registry.ts'
import { AppError, invalidRequest, notFound } from '../errors.ts'
import type { Thread } from '../threads/thread-store.ts'

export interface AgentChooser {
  /** Who answers in a new thread: the agent asked for, or the default one. Throws not_found, invalid_request or configuration_error. */
  forNewThread: (agentId: string | undefined) => Agent
  /** Who answers in a thread; asking for another agent than its own is a conflict. */
  forThread: (thread: Thread | undefined, agentId: string | undefined) => Agent
}

export function createAgentChooser ({ agents, models }: { readonly agents: AgentRegistry, readonly models: ModelRegistry }): AgentChooser {
  return { forNewThread, forThread }

  function forThread (thread: Thread | undefined, agentId: string | undefined): Agent {
    if (thread === undefined) return forNewThread(agentId)
    const agent = agents.find(thread.agentId)
    if (agent === undefined) throw new AppError('configuration_error', "This thread's agent is not configured any more. Choose another with PATCH {agentId}.")
    if (agentId !== undefined && askable(agentId).id !== agent.id) {
      throw new AppError('conflict', 'This thread belongs to another agent. Change it with PATCH {agentId}.', { details: { issues: [{ path: 'agentId', message: `expected ${agent.id}` }] } })
    }
    return reachable(agent)
  }

  function forNewThread (agentId: string | undefined): Agent {
    const agent = agentId === undefined ? agents.defaultAgent() : askable(agentId)
    if (agent === undefined) throw invalidRequest('agentId: say which agent should answer.', [{ path: 'agentId', message: 'expected the id of an agent, since there is no default' }])
    return reachable(agent)
  }

  function askable (agentId: string): Agent {
    const agent = agents.find(agentId)
    if (agent === undefined || (agent.hidden && !agent.directAccess)) throw notFound('agent')
    return agent
  }

  /** A model that cannot be reached by configuration is an answer before anything is stored. */
  function reachable (agent: Agent): Agent {
    models.get(agent.model)
    return agent
  }
}
