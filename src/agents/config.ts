import { z } from 'zod'
import type { Domain } from '../auth/operation.ts'
import type { PermissionEntry } from '../auth/permission-entry.ts'
import type { modelFactsSchema } from '../models/model-facts.ts'
import type { providerSchema } from '../models/providers.ts'
import type { IntegrationDefinition } from '../tools/integration.ts'
import type { Tool } from '../tools/tool.ts'
import type { AgentDefinition, DefinedAgent } from './agent.ts'

/** The shape of a configuration; its agents, tools, integrations, permissions, providers and models are checked one by one afterwards, so that all mistakes are found. */
export const configSchema = z.strictObject({
  agents: z.array(z.unknown(), 'expected a list of agents, or of files that define them'),
  tools: z.array(z.unknown(), 'expected a list of tools made by defineTool').default([]),
  integrations: z.record(z.string(), z.unknown(), 'expected integrations by name').default({}),
  permissions: z.record(z.string(), z.unknown(), 'expected lists of permissions by domain').default({}),
  providers: z.record(z.string(), z.unknown(), 'expected providers by name').default({}),
  models: z.record(z.string(), z.unknown(), 'expected models by id').default({}),
  defaultModel: z.string().min(1).optional(),
  defaultAgent: z.string().min(1).optional(),
  runtimeAgents: z.unknown().optional()
})

/** A service that models are asked from. */
export type ProviderDefinition = z.input<typeof providerSchema>

/** What is known of a model: how much it reads at once, and what it costs. */
export type ModelDefinition = z.input<typeof modelFactsSchema>

/** What agents that are made over HTTP may be made of, see docs/runtime-agents.md. */
export interface RuntimeAgentsDefinition {
  /** Agents of this configuration, abstract or not, or their keys. */
  readonly bases: readonly (DefinedAgent | string)[]
  /** Tools, or names of `tools`, that may be added to those of a base. */
  readonly tools?: readonly (Tool | string)[]
  /** Models that may be chosen in place of a base's own. */
  readonly models?: readonly string[]
}

/** What a deployment serves. */
export interface ParleyConfig {
  /**
   * Agents, plain entries of the same attributes, or files that hold them: a path or a glob relative to this file, or
   * the bare name of a file in `agents/`.
   */
  agents: readonly (DefinedAgent | AgentDefinition | string)[]
  /** Tools that agents may name instead of importing them. */
  tools?: readonly Tool[]
  /** Servers whose tools agents may have, by the name they are listed by. */
  integrations?: Readonly<Record<string, IntegrationDefinition>>
  /** Who may do what; each list in place of the domain's default, see docs/permissions.md. */
  permissions?: Readonly<Partial<Record<Domain, readonly PermissionEntry[]>>>
  providers?: Readonly<Record<string, ProviderDefinition>>
  /** What is known of models, by `provider:model` or a plain model id of the provider `openai`. */
  models?: Readonly<Record<string, ModelDefinition>>
  /** `provider:model` of agents that name none. */
  defaultModel?: string
  /** Key or id of the agent that a chat without one goes to. */
  defaultAgent?: string
  /** What agents may be made of over HTTP; none can be made when absent. */
  runtimeAgents?: RuntimeAgentsDefinition
}

/** Gives a configuration its type. It checks nothing: the loader reports the mistakes of all files together. */
export function defineConfig (config: ParleyConfig): ParleyConfig {
  return config
}
