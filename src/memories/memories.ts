import type { Agent } from '../agents/agent.ts'
import type { AgentRegistry } from '../agents/registry.ts'
import type { Memory, MemoryThread, VersionedMemory } from './memory.ts'
import { createTurnMemory, type TurnMemory, type TurnMemoryOptions } from './turn-memory.ts'
import { volatile } from './volatile.ts'

/** The memories of the registered agents. */
export interface Memories {
  /** Of one turn; undefined for an agent without a memory, whose model is given the stored conversation. */
  readonly ofTurn: (agent: Pick<Agent, 'memory'>, turn: Omit<TurnMemoryOptions, 'memory'>) => TurnMemory | undefined
  /** What is kept of a thread, or of all threads of an owner, outside of the database goes; the database sees to its own. */
  readonly forget: (owner: MemoryThread['principal'], threadId: string | undefined) => Promise<void>
}

export function createMemories ({ agents, database }: { readonly agents: Pick<AgentRegistry, 'all'>, readonly database: VersionedMemory }): Memories {
  const named = { none: undefined, database, volatile: volatile() }
  const memoryOf = ({ memory }: Pick<Agent, 'memory'>): Memory | undefined => typeof memory === 'string' ? named[memory] : memory

  return {
    ofTurn: (agent, turn) => {
      const memory = memoryOf(agent)
      return memory === undefined ? undefined : createTurnMemory({ memory, ...turn })
    },
    forget: async (owner, threadId) => {
      const used = new Set(agents.all().map(memoryOf))
      await Promise.all([...used].map((memory) => memory?.forget?.(owner, threadId)))
    }
  }
}
