import { isAppError, RunStopped, toPublicError } from '../errors.ts'
import type { RunEventBody, TerminalEvent } from '../events/run-event.ts'
import { announcements, approvalsOf, hiddenCalls } from './approval-requests.ts'
import type { Frame } from './frame.ts'
import type { OpenEnds } from './open-ends.ts'
import type { RunDeps, RunInput } from './run-input.ts'
import type { LoopEnd } from './run-loop.ts'
import { waitingCalls } from './suspension.ts'

export type EndingEvents = readonly [...RunEventBody[], TerminalEvent]

export interface EndingRun {
  readonly input: RunInput
  readonly deps: RunDeps
  readonly frame: Frame
  readonly openEnds: OpenEnds
}

/** How a run ends whose agent has come to an end. */
export function ending (run: EndingRun, end: LoopEnd): EndingEvents {
  return end.kind === 'suspended' ? suspended(run, end) : [messageEnd(run, end), { type: 'run-completed' }]
}

function messageEnd ({ frame }: EndingRun, { finishReason }: LoopEnd & { kind: 'completed' }): RunEventBody {
  const { usage, costUsd } = frame.state.ledger.spent()
  return { type: 'message-end', finishReason, usage, ...(costUsd === undefined ? {} : { costUsd }) }
}

/** What is kept is told first, so that nobody hears of an approval that is not there. */
function suspended ({ input, deps, frame, openEnds }: EndingRun, { checkpoint, closing }: LoopEnd & { kind: 'suspended' }): EndingEvents {
  const approvals = approvalsOf(checkpoint, new Date(Date.now() + deps.approvalTtlMs))
  input.onSuspend?.({ checkpoint: { root: checkpoint, ...frame.state.ledger.spent(), memberCalls: frame.run.slots.begun(), metadata: input.metadata, principal: { userId: input.principal.userId, roles: input.principal.roles } }, approvals })
  const pendingCalls = waitingCalls(checkpoint).flatMap((call) => call.kind === 'client' ? [call.callId] : [])
  const shown = hiddenCalls(checkpoint).filter((event) => !openEnds.isAnnounced(event.callId))
  return [...shown, ...announcements(approvals), ...closing, { type: 'run-suspended', approvals: approvals.map(({ id }) => id), pendingCalls }]
}

/** How a run ends that was broken off: what is open is closed first. */
export function breaking ({ deps, openEnds }: EndingRun, error: unknown): EndingEvents {
  if (error instanceof RunStopped) return [...openEnds.close('stopped'), ...openEnds.stepAfterCalls(), { type: 'run-stopped', reason: error.reason }]
  const { code, message, retryable, ref } = toPublicError(error)
  deps.log[isAppError(error) ? 'warn' : 'error']({ err: error, ref, code }, 'run failed')
  const failure = { code, message, retryable, ref }
  if (code === 'shutting_down') return [...openEnds.close('interrupted'), { type: 'run-interrupted', ...failure }]
  return [...openEnds.close('failed'), { type: 'run-failed', ...failure }]
}
