import { createHash } from 'node:crypto'
import type { Agent } from './agent.ts'
import type { CrewMember } from './crew.ts'

const maxNameLength = 64

/** The names of the tools that ask these members, one for each. `taken` are the names of other tools, which keep theirs. */
export function memberToolNames (members: readonly Pick<Agent, 'id' | 'name'>[], taken: ReadonlySet<string>): readonly string[] {
  const slugs = members.map(({ name }) => slugOf(name))
  const used = new Set(taken)
  return members.map(({ id }, index) => {
    const slug = slugs[index]! // one for each
    const isUnique = !taken.has(slug) && slugs.indexOf(slug) === slugs.lastIndexOf(slug)
    const name = isUnique ? slug : withHash(slug, id, used)
    used.add(name)
    return name
  })
}

/** The name of the one tool for all members of a mode. */
export function groupToolName (mode: CrewMember['mode']): string {
  return mode === 'request' ? 'delegate' : 'hand_over'
}

/** A display name as a tool may be called. */
export function slugOf (name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}+/gu, '').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '')
  return plain.slice(0, maxNameLength) || `agent_${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
}

/** By a hash and not a counter: the name does not depend on the order. */
function withHash (slug: string, id: string, used: ReadonlySet<string>): string {
  const digits = id.replaceAll('-', '')
  for (let length = 6; ; length += 2) {
    const suffix = `_${digits.slice(0, length)}`
    const name = slug.slice(0, maxNameLength - suffix.length) + suffix
    if (!used.has(name) || length >= digits.length) return name
  }
}
