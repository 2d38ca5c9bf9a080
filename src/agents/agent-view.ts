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
