import { z } from 'zod'
import type { ModelRegistry } from '../agents/registry.ts'
import { AppError } from '../errors.ts'
import { withMergedNeighbours } from './merge-neighbours.ts'
import type { Model } from './model.ts'
import type { ModelFacts } from './model-facts.ts'
import { createOfflineModel } from './offline.ts'
import { createOpenAIChatModel } from './openai-chat.ts'
import { createOpenAIClient, type OpenAIClient } from './openai-client.ts'
import { createOpenAIResponsesModel } from './openai-responses.ts'
import { createUpstreamPost } from './upstream-post.ts'

/** A provider of the configuration file. Keys are named by their environment variable, never written down. */
export const providerSchema = z.strictObject({
  api: z.enum(['openai-chat', 'openai-responses']).default('openai-chat'),
  baseURL: z.url({ protocol: /^https?$/ }).optional(),
  apiKeyEnv: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** For servers that refuse two neighbouring messages of one role. */
  mergeNeighbours: z.boolean().optional()
})

export type ProviderConfig = z.output<typeof providerSchema>

export interface ConfiguredModels extends ModelRegistry {
  /** Why a model cannot be had, fit to be shown at start; undefined when nothing is wrong with it. */
  problem: (id: string) => string | undefined
}

export interface ModelRegistryOptions {
  readonly providers: Readonly<Record<string, ProviderConfig | undefined>>
  readonly defaultModel?: string | undefined
  /** By full id. */
  readonly facts?: ReadonlyMap<string, ModelFacts> | undefined
  /** Where providers find their keys. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds between the words of the offline model. */
  readonly wordDelayMs?: number | undefined
  readonly log?: { readonly info: (fields: object, message: string) => void } | undefined
}

type Access = { readonly ok: true, readonly baseURL: string | undefined, readonly apiKey: string | undefined } | { readonly ok: false, readonly problem: string }

const offlineId = 'offline'
export const defaultProvider = 'openai'
const defaultOpenAIModel = 'openai:gpt-4.1-mini'

/**
 * The models of a deployment: `openai` from OPENAI_API_KEY and OPENAI_BASE_URL, those of the configuration, and
 * `offline`. Without a key the default is `offline`, so that a fresh checkout answers. Nothing connects before a call.
 */
export function createModelRegistry ({ providers: configured, defaultModel, facts, env, wordDelayMs, log }: ModelRegistryOptions): ConfiguredModels {
  const providers = new Map(Object.entries({ [defaultProvider]: providerSchema.parse({}), ...configured }))
  const clients = new Map<string, OpenAIClient>()
  const models = new Map<string, Model>()
  const post = createUpstreamPost()

  return { get, problem, defaultModel: fullModelId(defaultModel ?? ((given(env.OPENAI_API_KEY) ?? given(env.OPENAI_BASE_URL)) === undefined ? offlineId : defaultOpenAIModel)) }

  function get (id: string): Model {
    const full = fullModelId(id)
    const known = models.get(full)
    if (known !== undefined) return known
    const model = { ...create(full), ...facts?.get(full) }
    models.set(full, model)
    return model
  }

  function problem (id: string): string | undefined {
    const full = fullModelId(id)
    if (full === offlineId) return undefined
    const { provider, modelName } = split(full)
    if (modelName === '') return `Model "${id}" names no model of its provider.`
    const access = accessOf(provider)
    return access.ok ? undefined : access.problem
  }

  function create (full: string): Model {
    if (full === offlineId) return createOfflineModel({ wordDelayMs: wordDelayMs ?? 0 })
    const wrong = problem(full)
    if (wrong !== undefined) throw new AppError('configuration_error', wrong)
    const { provider, modelName } = split(full)
    const onSimplified = (dialect: object) => log?.info({ model: full, ...dialect }, 'the provider refused a part of a request and is asked without it from now on')
    const options = { id: full, modelName, client: clientOf(provider), onSimplified }
    const { api, mergeNeighbours = false } = providers.get(provider) ?? {}
    const model = api === 'openai-responses' ? createOpenAIResponsesModel(options) : createOpenAIChatModel(options)
    return mergeNeighbours ? withMergedNeighbours(model) : model
  }

  function clientOf (provider: string): OpenAIClient {
    const known = clients.get(provider)
    if (known !== undefined) return known
    const access = accessOf(provider)
    if (!access.ok) throw new AppError('configuration_error', access.problem)
    const { baseURL, apiKey } = access
    const account = provider === defaultProvider ? { organization: given(env.OPENAI_ORG_ID), project: given(env.OPENAI_PROJECT_ID) } : {}
    const client = createOpenAIClient({ baseURL, apiKey, headers: providers.get(provider)?.headers, post, ...account })
    clients.set(provider, client)
    return client
  }

  function accessOf (provider: string): Access {
    const config = providers.get(provider)
    if (config === undefined) {
      const known = [...providers.keys(), offlineId].filter((name, at, names) => names.indexOf(name) === at)
      return { ok: false, problem: `There is no model provider "${provider}". Known: ${known.join(', ')}.` }
    }
    // A provider without an address of its own is OpenAI's, by another key perhaps.
    const baseURL = config.baseURL ?? (provider === defaultProvider ? given(env.OPENAI_BASE_URL) : undefined)
    const keyName = config.apiKeyEnv ?? (baseURL === undefined || provider === defaultProvider ? 'OPENAI_API_KEY' : undefined)
    const apiKey = keyName === undefined ? undefined : given(env[keyName])
    const needed = config.apiKeyEnv !== undefined || baseURL === undefined
    if (apiKey === undefined && needed) return { ok: false, problem: `Model provider "${provider}" needs the environment variable ${keyName}.` }
    return { ok: true, baseURL, apiKey }
  }
}

/** `provider:model`; what follows the first colon may hold more of them. */
export function fullModelId (id: string): string {
  if (id === offlineId || id.startsWith(`${offlineId}:`)) return offlineId
  return id.includes(':') ? id : `${defaultProvider}:${id}`
}

/** The provider of a full id; undefined for the offline model, which has none. */
export function providerOf (full: string): string | undefined {
  return full === offlineId ? undefined : split(full).provider
}

function split (full: string): { provider: string, modelName: string } {
  const colon = full.indexOf(':')
  return { provider: full.slice(0, colon), modelName: full.slice(colon + 1) }
}

/** A variable that is set to nothing is not set. */
function given (value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value
}
