import { randomUUID } from 'node:crypto'
import type { Agent } from '../agents/agent.ts'
import type { Member } from '../agents/crew-members.ts'
import { extended, isMetadata } from '../agents/metadata.ts'
import { didYouMean } from '../agents/suggest.ts'
import { AppError, isErrorCode } from '../errors.ts'
import { membersOf } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import { runMember, type MemberEnd, type MemberOptions } from './member.ts'
import type { MemberSlot } from './member-slots.ts'
import type { AskMember } from './step-context.ts'

/**
 * Lets the steps of a frame ask its crew, by key, name or id. The answer comes as unsigned text; what else the member does
 * is signed. Nobody can be asked to approve what it does, since steps cannot stop and go on.
 */
export function askMember (frame: Frame, { signal, loop }: Pick<MemberOptions, 'signal' | 'loop'>): AskMember {
  const asking: Frame = { ...frame, run: { ...frame.run, suspendsFor: 'nothing' } }
  const place = frame.slot === undefined ? undefined : createLoan(frame.slot)

  return async function * (name, task, { metadata: own } = {}) {
    if (own !== undefined && !isMetadata(own)) throw new AppError('configuration_error', `The metadata for "${name}" is not an object of JSON values.`)
    const { agent, metadata = {} } = memberNamed(frame, name)
    const errand = { callId: `call_${randomUUID()}`, agent, task, mode: 'handover', metadata: extended(metadata, own) } as const
    place?.lend()
    try {
      assertAnswered(errand.agent, yield * runMember(asking, errand, { signal, loop }))
    } finally {
      await place?.reclaim(signal)
    }
  }
}

function memberNamed (frame: Frame, name: string): Member {
  const members = membersOf(frame)
  const known = frame.run.deps.agents.find(name)
  const member = members.find(({ agent }) => agent.id === known?.id) ?? members.find(({ agent }) => agent.name === name)
  if (member !== undefined) return member
  throw new AppError('configuration_error', `The agent "${frame.agent.name}" has no member "${name}" that it can ask.${didYouMean(name, members.map(({ agent }) => agent.key))}`)
}

function assertAnswered ({ name }: Agent, end: MemberEnd): void {
  if (end.kind === 'handed-over') return
  if (end.kind === 'failed') throw new AppError(isErrorCode(end.code) ? end.code : 'tool_failed', end.message, { cause: end.cause })
  throw new AppError('provider_unavailable', `The agent "${name}" gave no answer.`)
}

/** A member's place, given up while it waits for any number of agents of its own at the same time. */
function createLoan (slot: MemberSlot) {
  let waiting = 0
  let reclaimed: Promise<void> | undefined

  return {
    lend (): void {
      waiting++
      slot.lend()
    },
    async reclaim (signal: AbortSignal): Promise<void> {
      waiting--
      if (waiting > 0) return
      await (reclaimed ??= slot.reclaim(signal).finally(() => { reclaimed = undefined }))
      // Another one was asked while the place was waited for.
      if (waiting > 0) slot.lend()
    }
  }
}
