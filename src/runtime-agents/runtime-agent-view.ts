import type { KnownAgent } from './known-agents.ts'

/** What callers may know of a runtime agent. What is null is as its base has it. */
export interface RuntimeAgentView {
  readonly id: string
  readonly base: string
  readonly name: string
  readonly description: string | null
  readonly model: string | null
  readonly tools: readonly string[]
  readonly suggestions: boolean | null
  readonly active: boolean
  readonly createdAt: string
  readonly updatedAt: string
}

/** And those who manage it. */
export interface ManagedAgentView extends RuntimeAgentView {
  readonly instructions: string | null
  readonly createdBy: string
  /** Why it cannot be talked to although it is active; null where nothing keeps it. */
  readonly problem: string | null
}

export function runtimeAgentView ({ row }: KnownAgent): RuntimeAgentView {
  const { id, base, name, description, model, tools, suggestions, active, createdAt, updatedAt } = row
  return { id, base, name, description, model, tools, suggestions, active, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}

export function managedAgentView (known: KnownAgent): ManagedAgentView {
  const { row: { instructions, createdBy }, problem = null } = known
  return { ...runtimeAgentView(known), instructions, createdBy, problem }
}
