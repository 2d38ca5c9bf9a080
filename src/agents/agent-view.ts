import type { Principal } from '../auth/principal.ts'
import type { IntegrationView, Integrations } from '../tools/integrations.ts'
import type { Agent } from './agent.ts'

/** What callers may know of an agent. */
export interface AgentView {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string
  readonly model: string
  readonly fileUpload: boolean
  readonly vision: boolean
  readonly retrieval: boolean
  readonly suggestions: boolean
}

export function agentView ({ id, key, name, description, model, fileUpload, vision, suggestions }: Agent): AgentView {
  return { id, key, name, description, model, fileUpload, vision, retrieval: false, suggestions: suggestions !== undefined }
}

/** What an agent can use, by the labels people know it by. */
export interface AgentToolsView {
  /** Those that are known before a run: what providers bring is not. */
  readonly tools: ReadonlyArray<{ readonly name: string, readonly label: string, readonly description: string }>
  readonly integrations: readonly IntegrationView[]
}

export function agentToolsView ({ tools, integrations }: Agent, all: Pick<Integrations, 'list'>, principal: Principal): AgentToolsView {
  return {
    tools: tools.flatMap((tool) => typeof tool === 'function' ? [] : [{ name: tool.name, label: tool.title ?? tool.name, description: tool.description }]),
    integrations: all.list(integrations, principal)
  }
}
