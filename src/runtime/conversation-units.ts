import type { ModelMessage } from '../models/model.ts'

/** Messages that belong together: one of the user, or a model's with the results of its calls. */
export interface Unit {
  readonly kind: 'user' | 'step'
  readonly messages: readonly ModelMessage[]
  /** Must stay whatever happens. */
  readonly isKept: boolean
  /** From before the newest steps and the questions they answer. */
  readonly isOld: boolean
}

export interface Kept {
  readonly keepSteps: number
  /** What the run is to answer, which later reminders must not push out. */
  readonly question: ModelMessage | undefined
}

/**
 * A conversation in units, so that no call is split from its result. Kept are the first message of the user, the last one,
 * the run's question and the newest steps.
 */
export function unitsOf (messages: readonly ModelMessage[], { keepSteps, question }: Kept): readonly Unit[] {
  const groups = grouped(messages)
  const users = groups.filter(isUser)
  const kept = new Set([users[0], users.at(-1), ...groups.filter((group) => !isUser(group)).slice(keepSteps === 0 ? Infinity : -keepSteps)])
  const start = startOfNewest(groups, kept)
  return groups.map((group, index) => ({
    kind: isUser(group) ? 'user' : 'step',
    messages: group,
    isKept: kept.has(group) || (question !== undefined && group.includes(question)),
    isOld: index < start
  }))
}

function grouped (messages: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
  const groups: ModelMessage[][] = []
  for (const message of messages) {
    const group = groups.at(-1)
    if (message.role === 'tool' && group !== undefined && !isUser(group)) group.push(message)
    else groups.push([message])
  }
  return groups
}

/** The first of the newest steps, with what the user said right before it. */
function startOfNewest (groups: readonly (readonly ModelMessage[])[], kept: ReadonlySet<readonly ModelMessage[] | undefined>): number {
  const first = groups.findIndex((group) => kept.has(group) && !isUser(group))
  let start = first === -1 ? groups.length : first
  while (start > 0 && isUser(groups[start - 1] ?? [])) start--
  return start
}

function isUser (group: readonly ModelMessage[]): boolean {
  return group[0]?.role === 'user'
}
