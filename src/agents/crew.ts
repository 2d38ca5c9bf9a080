import { z } from 'zod'
import type { Agent } from './agent.ts'
import { metadataSchema, type Metadata } from './metadata.ts'
import { didYouMean } from './suggest.ts'

/** A member by its key, alias or id, or as the defined agent itself. */
const memberSchema = z.union([
  z.string().min(1),
  z.custom<{ readonly kind: 'agent', readonly key: string }>((value) => typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'agent', 'expected an agent, or the key of one')
], 'expected an agent, or the key of one')

export const crewEntrySchema = z.union([
  memberSchema,
  z.strictObject({ agent: memberSchema, mode: z.enum(['request', 'handover']).default('request'), metadata: metadataSchema.optional() })
], 'expected an agent, the key of one, or { agent, mode, metadata }')

export interface CrewMember {
  readonly key: string
  /** `request`: its report comes back. `handover`: it answers the user. */
  readonly mode: 'request' | 'handover'
  /** For it and everything below it, over what it inherits. */
  readonly metadata?: Metadata
}

export function crewMember (entry: z.output<typeof crewEntrySchema>): CrewMember {
  if (typeof entry === 'string') return { key: entry, mode: 'request' }
  if (!('agent' in entry)) return { key: entry.key, mode: 'request' }
  const { agent, mode, metadata } = entry
  return { key: keyOf(agent), mode, ...(metadata === undefined ? {} : { metadata }) }
}

/** What is wrong with an agent's crew, once all agents are known. `faulty` are the keys of those that are reported anyway. */
export function crewProblems ({ crew, delegation }: Agent, names: ReadonlyMap<string, Agent>, faulty: ReadonlySet<unknown>): string[] {
  const problems: string[] = []
  const byName = new Map<string, Agent>()
  for (const [index, { key }] of crew.entries()) {
    const member = names.get(key)
    if (member === undefined) {
      if (!faulty.has(key)) problems.push(`agents[${index}]: no agent "${key}" in this configuration.${didYouMean(key, [...names.keys()])}`)
      continue
    }
    const namesake = byName.get(member.name)
    if (delegation === 'group' && namesake !== undefined && namesake.id !== member.id) problems.push(`agents[${index}]: a second member named "${member.name}"; in a group names have to differ`)
    byName.set(member.name, member)
  }
  return problems
}

function keyOf (member: z.output<typeof memberSchema>): string {
  return typeof member === 'string' ? member : member.key
}
