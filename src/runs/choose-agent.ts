import type { Agent } from '../agents/agent.ts'
import { askableAgent, isOpen, type AgentsAndPermissions } from '../agents/askable-agent.ts'
import type { ModelRegistry } from '../agents/registry.ts'
import type { Operation } from '../auth/operation.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError, invalidRequest, notFound } from '../errors.ts'
import type { Thread } from '../threads/thread-store.ts'

/** Who wants an answer, and whether in a chat or in a run. */
export interface Asking {
  readonly principal: Principal
  readonly operation: Operation
}

export interface AgentChooser {
  /** Who answers in a new thread: the agent asked for, or the default one. Throws not_found, permission_denied, invalid_request or configuration_error. */
  forNewThread: (agentId: string | undefined, asking: Asking) => Agent
  /** Who answers in a thread; asking for another agent than its own is a conflict. */
  forThread: (thread: Thread | undefined, agentId: string | undefined, asking: Asking) => Agent
  /** Who goes on in a thread: that is nobody's to allow any more. A conflict where that agent does not exist any more. */
  goingOn: (thread: Thread | undefined) => Agent
}

export function createAgentChooser ({ agents, permissions, models }: AgentsAndPermissions & { readonly models: ModelRegistry }): AgentChooser {
  return { forNewThread, forThread, goingOn }

  function goingOn (thread: Thread | undefined): Agent {
    if (thread === undefined) throw notFound('thread')
    const agent = agents.find(thread.agentId)
    if (agent === undefined) throw new AppError('conflict', 'The agent of this thread does not exist any more. Choose another with PATCH {agentId}.')
    return reachable(agent)
  }

  function forThread (thread: Thread | undefined, agentId: string | undefined, asking: Asking): Agent {
    if (thread === undefined) return forNewThread(agentId, asking)
    const agent = goingOn(thread)
    if (!isOpen(permissions, asking.principal, agent, asking.operation)) throw notFound('agent')
    if (agentId !== undefined && askable(agentId, asking).id !== agent.id) {
      throw new AppError('conflict', 'This thread belongs to another agent. Change it with PATCH {agentId}.', { details: { issues: [{ path: 'agentId', message: `expected ${agent.id}` }] } })
    }
    return agent
  }

  function forNewThread (agentId: string | undefined, asking: Asking): Agent {
    const agent = agentId === undefined ? askableAgent({ agents, permissions }, asking.principal, undefined, asking.operation) : askable(agentId, asking)
    if (agent === undefined) throw invalidRequest('agentId: say which agent should answer.', [{ path: 'agentId', message: 'expected the id of an agent, since there is no default' }])
    return reachable(agent)
  }

  function askable (agentId: string, { principal, operation }: Asking): Agent {
    const agent = askableAgent({ agents, permissions }, principal, agentId, operation)
    if (agent === undefined) throw notFound('agent')
    return agent
  }

  /** A model that cannot be reached by configuration is an answer before anything is stored. */
  function reachable (agent: Agent): Agent {
    models.get(agent.model)
    return agent
  }
}
