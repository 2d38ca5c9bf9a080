import { isAppError, RunStopped, toPublicError, AppError } from '../errors.ts'
import type { FinishReason, RunEventBody, TerminalEvent } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import { createOpenEnds } from './open-ends.ts'
import { finishHook } from './finish-hook.ts'
import { rootFrame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import { announcements, approvalsOf, hiddenCalls } from './approval-requests.ts'
import { agentLoop } from './agent-loop.ts'
import type { LoopEnd } from './run-loop.ts'
import type { RunDeps, RunInput } from './run-input.ts'
import { workedMs } from './run-state.ts'
import { suggestionsAfter } from './suggestions.ts'
import { waitingCalls, waitingInputs } from './suspension.ts'

/**
 * One run of an agent as events: message-start first, exactly one terminal event last, everything that was opened closed
 * in between, whatever happens. It does not throw. Aborting `signal` with RunStopped stops the run, with an AppError
 * fails it (shutting_down: interrupts it).
 */
export async function * runAgent (input: RunInput, deps: RunDeps, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, void> {
  const { agent, runId, messageId, threadId, resume } = input
  const openEnds = createOpenEnds()
  const frame = rootFrame(input, deps)
  const deadline = startDeadline(agent.timeouts.totalMs, signal)
  const finished = finishHook(agent, hookContext(frame, deadline.signal), deps.log)
  let tell = deps.observer?.run({ runId, threadId, agentId: agent.id, agentName: agent.key, model: agent.model })

  try {
    yield [{ type: 'message-start', messageId, runId, agentId: agent.id, model: agent.model, continued: resume !== undefined, ...(threadId === undefined ? {} : { threadId }) }]
    if (resume !== undefined) openEnds.observe(waitingInputs(resume.checkpoint.root, agent.subagentStream))
    const loop = agentLoop(frame, deadline.signal, resume === undefined ? undefined : { frame: resume.checkpoint.root, answers: resume })
    let next = await loop.next()
    while (next.done !== true) {
      openEnds.observe(next.value)
      yield next.value
      next = await loop.next()
    }
    // The answer is whole: neither its deadline nor a stop takes it back.
    const offered = await suggestionsAfter(frame, next.value, signal)
    if (offered.length > 0) yield offered
    yield told(ending(next.value))
  } catch (error) {
    yield told(breaking(deadline.signal.aborted ? deadline.signal.reason : error))
  } finally {
    deadline.clear()
    // Only where its reader left before it ended: otherwise this was told.
    tellEnd({ type: 'run-stopped', reason: 'nobody reads it any more' }, undefined)
  }

  function told (events: readonly [...RunEventBody[], TerminalEvent]): Batch<RunEventBody> {
    const last = events.find((event) => event.type === 'message-end')
    const end = { ...events.at(-1) as TerminalEvent, processingMs: Math.round(workedMs(frame.state)) } // by the type of the tuple
    tellEnd(end, last?.finishReason)
    return [...events.slice(0, -1), end]
  }

  function tellEnd (end: TerminalEvent, finishReason: FinishReason | undefined): void {
    tell?.(end)
    tell = undefined
    finished({ end, finishReason, ...frame.state.ledger.spent() })
  }

  function ending (end: LoopEnd): readonly [...RunEventBody[], TerminalEvent] {
    return end.kind === 'suspended' ? suspended(end) : [messageEnd(end), { type: 'run-completed' }]
  }

  function messageEnd ({ finishReason }: LoopEnd & { kind: 'completed' }): RunEventBody {
    const { usage, costUsd } = frame.state.ledger.spent()
    return { type: 'message-end', finishReason, usage, ...(costUsd === undefined ? {} : { costUsd }) }
  }

  /** What is kept is told first, so that nobody hears of an approval that is not there. */
  function suspended ({ checkpoint, closing }: LoopEnd & { kind: 'suspended' }): readonly [...RunEventBody[], TerminalEvent] {
    const approvals = approvalsOf(checkpoint, new Date(Date.now() + deps.approvalTtlMs))
    input.onSuspend?.({ checkpoint: { root: checkpoint, ...frame.state.ledger.spent(), memberCalls: frame.run.slots.begun, metadata: input.metadata, principal: { userId: input.principal.userId, roles: input.principal.roles } }, approvals })
    const pendingCalls = waitingCalls(checkpoint).flatMap((call) => call.kind === 'client' ? [call.callId] : [])
    const shown = hiddenCalls(checkpoint).filter((event) => !openEnds.isAnnounced(event.callId))
    return [...shown, ...announcements(approvals), ...closing, { type: 'run-suspended', approvals: approvals.map(({ id }) => id), pendingCalls }]
  }

  function breaking (error: unknown): readonly [...RunEventBody[], TerminalEvent] {
    if (error instanceof RunStopped) return [...openEnds.close('stopped'), ...openEnds.stepAfterCalls(), { type: 'run-stopped', reason: error.reason }]
    const { code, message, retryable, ref } = toPublicError(error)
    deps.log[isAppError(error) ? 'warn' : 'error']({ err: error, ref, code }, 'run failed')
    const failure = { code, message, retryable, ref }
    if (code === 'shutting_down') return [...openEnds.close('interrupted'), { type: 'run-interrupted', ...failure }]
    return [...openEnds.close('failed'), { type: 'run-failed', ...failure }]
  }
}

function startDeadline (totalMs: number, signal: AbortSignal): { signal: AbortSignal, clear: () => void } {
  // By hand: on Node 20 AbortSignal.any costs more than the rest of a short run's loop.
  const controller = new AbortController()
  const stop = () => { controller.abort(signal.reason) }
  const timer = setTimeout(() => {
    controller.abort(new AppError('provider_timeout', `The run took longer than ${Math.round(totalMs / 1000)} seconds.`))
  }, totalMs)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
}
