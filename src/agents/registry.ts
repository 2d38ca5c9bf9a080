import type { Model } from '../models/model.ts'
import type { Agent } from './agent.ts'

export interface AgentRegistry {
  /** By id, key or alias (an alias's key or its id). Abstract agents are not here; runtime agents are those of all tenants, by id. */
  find: (idOrKey: string) => Agent | undefined
  /** What a listing shows: hidden agents left out, in order of the configuration, and then those that this tenant has made. */
  list: (tenantId?: string) => readonly Agent[]
  /** All agents of the configuration, hidden ones too. */
  all: () => readonly Agent[]
  /** The agent a chat without `agentId` goes to: DEFAULT_AGENT, the configuration's, or the only visible one. */
  defaultAgent: () => Agent | undefined
}

export interface ModelRegistry {
  /** A model by full or plain id; configuration_error when its provider is not configured. */
  get: (id: string) => Model
  readonly defaultModel: string
}
