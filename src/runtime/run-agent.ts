import { AppError } from '../errors.ts'
import type { FinishReason, RunEventBody, TerminalEvent } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import { createOpenEnds } from './open-ends.ts'
import { finishHook } from './finish-hook.ts'
import { rootFrame } from './frame.ts'
import { hookContext } from './hook-context.ts'
import { agentLoop } from './agent-loop.ts'
import { breaking, ending, type EndingEvents } from './run-endings.ts'
import type { RunDeps, RunInput } from './run-input.ts'
import { workedMs } from './run-state.ts'
import { suggestionsAfter } from './suggestions.ts'
import { waitingInputs } from './suspension.ts'

export type Abort = (reason: Error) => void

/**
 * One run of an agent as events: message-start first, exactly one terminal event last, everything that was opened closed
 * in between, whatever happens. It does not throw. Aborting `signal` with RunStopped stops the run, with an AppError
 * fails it (shutting_down: interrupts it). `abort` aborts it, for the run's deadline; without one that has a signal of its own.
 */
export async function * runAgent (input: RunInput, deps: RunDeps, signal: AbortSignal, abort?: Abort): AsyncGenerator<Batch<RunEventBody>, void> {
  const { agent, runId, messageId, threadId, resume } = input
  const openEnds = createOpenEnds()
  const frame = rootFrame(input, deps)
  const scope = { input, deps, frame, openEnds }
  const deadline = startDeadline(agent.timeouts.totalMs, signal, abort)
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
    deadline.clear()
    const offered = await suggestionsAfter(frame, next.value, signal)
    if (offered.length > 0) yield offered
    yield told(ending(scope, next.value))
  } catch (error) {
    yield told(breaking(scope, deadline.signal.aborted ? deadline.signal.reason : error))
  } finally {
    deadline.clear()
    // Only where its reader left before it ended: otherwise this was told.
    tellEnd({ type: 'run-stopped', reason: 'nobody reads it any more' }, undefined)
  }

  function told (events: EndingEvents): Batch<RunEventBody> {
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
}

interface Deadline {
  readonly signal: AbortSignal
  /** Idempotent. */
  readonly clear: () => void
}

function startDeadline (totalMs: number, signal: AbortSignal, abort: Abort | undefined): Deadline {
  if (abort === undefined) return ownDeadline(totalMs, signal)
  const timer = setTimeout(() => { abort(tookTooLong(totalMs)) }, totalMs)
  return { signal, clear: () => { clearTimeout(timer) } }
}

/** By hand: on Node 20 AbortSignal.any costs more than the rest of a short run's loop. */
function ownDeadline (totalMs: number, signal: AbortSignal): Deadline {
  const controller = new AbortController()
  const stop = () => { controller.abort(signal.reason) }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  const { clear } = startDeadline(totalMs, controller.signal, (reason) => { controller.abort(reason) })
  return {
    signal: controller.signal,
    clear: () => {
      clear()
      signal.removeEventListener('abort', stop)
    }
  }
}

function tookTooLong (totalMs: number): AppError {
  return new AppError('provider_timeout', `The run took longer than ${Math.round(totalMs / 1000)} seconds.`)
}
