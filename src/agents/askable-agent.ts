import type { Operation } from '../auth/operation.ts'
import type { Permissions } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { permissionDenied } from '../errors.ts'
import type { Agent } from './agent.ts'
import type { AgentRegistry } from './registry.ts'

export interface AgentsAndPermissions {
  readonly agents: AgentRegistry
  readonly permissions: Permissions
}

/**
 * The agent by this name, or the default one, for a caller who wants to talk with it. Undefined where there is none as far
 * as they may know; permission_denied where they may see it and no more.
 */
export function askableAgent ({ agents, permissions }: AgentsAndPermissions, principal: Principal, name: string | undefined, operation: Operation): Agent | undefined {
  const agent = name === undefined ? agents.defaultAgent() : agents.find(name)
  if (agent === undefined || (agent.hidden && !agent.directAccess)) return undefined
  return isOpen(permissions, principal, agent, operation) ? agent : undefined
}

/** False for an agent that the caller may not see; permission_denied where they may see it and no more. */
export function isOpen (permissions: Permissions, principal: Principal, agent: Agent, operation: Operation): boolean {
  if (!permissions.may(principal, 'view_agent', agent)) return false
  if (!permissions.may(principal, operation, agent)) throw permissionDenied(operation)
  return true
}
