import type { Agent } from './agent.ts'
import { agentId } from './ids.ts'

export interface NameTable {
  /** By id, key, alias, or id of an alias. */
  readonly agents: ReadonlyMap<string, Agent>
  /** Agents that want a name which another one, the holder, has already. */
  readonly collisions: readonly { readonly agent: Agent, readonly holder: Agent, readonly reason: string }[]
}

/** Every name an agent answers to. Keys come first, so that an alias never takes a key. */
export function nameTable (agents: readonly Agent[]): NameTable {
  const holders = new Map<string, { agent: Agent, as: string }>()
  const collisions: { agent: Agent, holder: Agent, reason: string }[] = []
  const claim = (agent: Agent, names: readonly string[], as: string) => {
    const taken = names.map((name) => holders.get(name)).find((holder) => holder !== undefined && holder.agent !== agent)
    if (taken !== undefined) collisions.push({ agent, holder: taken.agent, reason: `${as} is taken: it is the ${taken.as} of agent "${taken.agent.key}"` })
    for (const name of names) if (!holders.has(name)) holders.set(name, { agent, as })
  }
  for (const agent of agents) claim(agent, [agent.key, agent.id], 'key')
  for (const agent of agents) {
    for (const alias of agent.aliases) claim(agent, [alias, agentId(alias)], `alias "${alias}"`)
  }
  return { agents: new Map([...holders].map(([name, { agent }]) => [name, agent])), collisions }
}
