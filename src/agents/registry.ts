import type { Model } from '../models/model.ts'
import type { Agent } from './agent.ts'

export interface AgentRegistry {
  /** By id, key or alias (an alias's key or its id). Abstract agents are not here. */
  find: (idOrKey: string) => Agent | undefined
  /** What a listing shows: hidden agents left out, in order of the configuration. */
  list: () => readonly Agent[]
  /** All registered agents, hidden ones too. */
  all: () => readonly Agent[]
  /** The agent a chat without `agentId` goes to: DEFAULT_AGENT, the configuration's, or the only visible one. */
  defaultAgent: () => Agent | undefined
}

export interface ModelRegistry {
  /** A model by full or plain id; configuration_error when its provider is not configured. */
  get: (id: string) => Model
  readonly defaultModel: string
}
