import type { Agent } from './agent.ts'
import type { CrewMember } from './crew.ts'
import type { AgentRegistry } from './registry.ts'

export interface Member extends Omit<CrewMember, 'key'> { readonly agent: Agent }

export interface CrewPlace {
  /** The ids of the agents that lead to this one. */
  readonly above: readonly string[]
  readonly agents: Pick<AgentRegistry, 'find'>
  /** Whether the caller may know of a member; of one that they may not nothing is said. */
  readonly mayView: (member: Agent) => boolean
}

/** An agent's crew without itself and duplicates; `waiting` are those of it that already wait for this agent further up. */
export function membersFor (agent: Agent, { above, agents, mayView }: CrewPlace): { readonly members: readonly Member[], readonly waiting: readonly Agent[] } {
  const blocked = new Set([...above, agent.id])
  const members = new Map<string, Member>()
  const waiting: Agent[] = []
  for (const { key, ...entry } of agent.crew) {
    const member = agents.find(key)
    if (member === undefined || members.has(member.id) || !mayView(member)) continue
    if (blocked.has(member.id)) waiting.push(member)
    else members.set(member.id, { agent: member, ...entry })
  }
  return { members: [...members.values()], waiting }
}

/** How deep a member may be asked for: the smaller of the root's and its own counts. The root's members are at depth 1. */
export function depthAllowed (root: Pick<Agent, 'maxDepth'>, member: Pick<Agent, 'maxDepth'>): number {
  return Math.min(root.maxDepth, member.maxDepth)
}
