import type { ConfiguredModels } from '../models/providers.ts'
import type { CheckContext } from './check-agent.ts'

/**
 * Settles the model of an agent. What is wrong with the default model or with a provider is reported where that is
 * configured, and not again by every agent that uses it; `reported` names such providers.
 */
export function createModelResolver (models: ConfiguredModels, reported: { providers: readonly string[] }): CheckContext['resolveModel'] {
  return (named) => {
    const id = named ?? models.defaultModel
    if (reported.providers.some((provider) => id.startsWith(`${provider}:`))) return { id }
    const problem = models.problem(id)
    if (problem === undefined) return { id: models.get(id).id }
    return named === undefined ? { id } : { problem }
  }
}
