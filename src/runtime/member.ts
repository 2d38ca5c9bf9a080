import type { Agent } from '../agents/agent.ts'
import { depthAllowed, type Member } from '../agents/crew-members.ts'
import { isAppError, RunStopped, toPublicError } from '../errors.ts'
import type { AgentPath, RunEventBody } from '../events/run-event.ts'
import type { ModelMessage } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { memberFrame, type Frame } from './frame.ts'
import { createMemberEvents, type MemberEvents } from './member-events.ts'
import { digestOf, reportOf } from './member-report.ts'
import type { LoopEnd } from './run-loop.ts'
import { writeReport } from './write-report.ts'
import { waitingInputs, type FrameCheckpoint, type Resume } from './suspension.ts'

/** One task given to one member. */
export interface Errand extends Member {
  readonly callId: string
  readonly task: string
}

export type MemberEnd =
  | { readonly kind: 'reported', readonly report: string }
  | { readonly kind: 'handed-over', readonly text: string }
  | { readonly kind: 'failed', readonly code: string, readonly message: string, readonly cause: unknown }
  | { readonly kind: 'suspended', readonly checkpoint: FrameCheckpoint }

export interface MemberOptions {
  readonly signal: AbortSignal
  /** Runs an agent's loop, whatever kind of agent it is. */
  readonly loop: (frame: Frame, signal: AbortSignal, resume?: { readonly frame: FrameCheckpoint, readonly answers: Resume } | undefined) => AsyncGenerator<Batch<RunEventBody>, LoopEnd>
  /** Where the member stopped, when it goes on. */
  readonly resume?: { readonly frame: FrameCheckpoint, readonly answers: Resume } | undefined
}

/**
 * A member at work, as events under its name. What breaks it is an end and not an exception: its coordinator goes on. Only
 * the end of the whole run (its signal) throws.
 */
export async function * runMember (coordinator: Frame, errand: Errand, { signal, loop, resume }: MemberOptions): AsyncGenerator<Batch<RunEventBody>, MemberEnd> {
  const { run } = coordinator
  const { agent, metadata } = errand
  const path = [...coordinator.path, { agentId: agent.id, name: agent.name, toolCallId: errand.callId }]
  const refusal = resume === undefined ? refusalOf(coordinator, agent, path) : undefined
  if (refusal !== undefined) return refusal

  const slot = await run.slots.take(signal)
  const frame = memberFrame(coordinator, { agent, path, metadata, history: [taskMessage(coordinator, errand)], slot, checkpoint: resume?.frame })
  const events = createMemberEvents({ path, name: agent.name, show: run.root.subagentStream, takesOver: errand.mode === 'handover', open: resume === undefined ? [] : waitingInputs(resume.frame, run.root.subagentStream) })
  try {
    yield * passed(events.begin())
    const end = yield * passing(loop(frame, signal, resume), events)
    if (end.kind === 'suspended') {
      yield * passed([...events.pass(end.closing), ...events.end('suspended')])
      return { kind: 'suspended', checkpoint: end.checkpoint }
    }
    return yield * finish(frame, errand, end, events, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof RunStopped) throw error
    const { code, message } = toPublicError(error)
    run.deps.log[isAppError(error) ? 'warn' : 'error']({ err: error, agent: agent.key, callId: errand.callId }, 'a member failed')
    yield * passed([...events.breakOff('failed'), ...events.end('failed')])
    return { kind: 'failed', code, message: `The agent "${agent.name}" did not finish: ${message}`, cause: error }
  } finally {
    slot.leave()
  }
}

/** The nesting cap is the smaller of the root's and the called member's own; both caps are answers for the coordinator's model. */
function refusalOf ({ run }: Frame, agent: Agent, path: AgentPath): MemberEnd | undefined {
  const refuse = (message: string): MemberEnd => ({ kind: 'failed', code: 'tool_failed', message, cause: undefined })
  // It was offered, but permissions may have changed since.
  if (!run.deps.permissions.may(run.principal, 'view_agent', agent)) return refuse(`The agent "${agent.name}" is not available. Go on without it.`)
  const maxDepth = depthAllowed(run.root, agent)
  if (path.length > maxDepth) return refuse(`The agent "${agent.name}" cannot be asked from here: agents may be nested ${maxDepth} deep. Go on without it.`)
  if (!run.slots.begin()) return refuse(`No more agents can be asked in this run: it has asked ${run.slots.begun()} already. Answer from what you have.`)
  return undefined
}

function taskMessage ({ agent, run: { attachments } }: Frame, { task }: Errand): ModelMessage {
  if (!agent.shareAttachments || attachments.length === 0) return { role: 'user', content: task }
  const images = attachments.flatMap(({ image }) => image ?? [])
  const content = [...attachments.map(({ text }) => text), task].join('\n\n')
  return { role: 'user', content, ...(images.length === 0 ? {} : { images }) }
}

async function * finish (frame: Frame, { mode }: Errand, end: LoopEnd & { kind: 'completed' }, events: MemberEvents, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, MemberEnd> {
  const { state, run } = frame
  const status = end.capped || end.finishReason === 'length' ? 'truncated' : 'completed'
  // Steps say what they say: there is no model to be asked for more.
  const isSaid = end.text.trim() !== '' || frame.agent.pipeline !== undefined
  const text = isSaid ? end.text : yield * passing(writeReport(frame, signal), events)
  yield * passed([...text === '' ? events.breakOff('failed') : [], ...events.end(status)])
  if (mode === 'handover' && text !== '') return { kind: 'handed-over', text }
  return { kind: 'reported', report: text === '' ? digestOf(state.messages, run.deps.subagentDigestLimit) : reportOf(text, state.messages) }
}

async function * passing<R> (source: AsyncGenerator<Batch<RunEventBody>, R>, events: MemberEvents): AsyncGenerator<Batch<RunEventBody>, R> {
  try {
    for (let next = await source.next(); ; next = await source.next()) {
      if (next.done === true) return next.value
      yield * passed(events.pass(next.value))
    }
  } finally {
    await source.return(undefined as R) // its end is not read any more
  }
}

function * passed (events: readonly RunEventBody[]): Generator<Batch<RunEventBody>, void> {
  if (events.length > 0) yield events
}
