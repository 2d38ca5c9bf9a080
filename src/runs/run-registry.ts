import { ownerOf, type Principal } from '../auth/principal.ts'
import { RunStopped, shuttingDown, toPublicError } from '../errors.ts'
import { isTerminal, type RunEvent, type RunEventBody } from '../events/run-event.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { RunLogger } from '../runtime/log.ts'
import { delay } from '../streams/abort.ts'
import type { Batch, BatchStream } from '../streams/batch.ts'
import type { RunLog } from './run-log.ts'

export interface RunSpec {
  readonly principal: Principal
  readonly threadId: string | undefined
  readonly messageId: string
  /** `stop`: the run ends when its last reader leaves. */
  readonly onDisconnect: 'continue' | 'stop'
  /** What the message said before this run: what a reader from the start is shown first. */
  readonly initialParts: readonly MessagePart[]
  /** `abort` aborts the signal. */
  readonly events: (signal: AbortSignal, abort: (reason: Error) => void) => BatchStream<RunEventBody>
  /** Sees each batch before the log does; what it returns is logged. */
  readonly record?: (events: Batch<RunEventBody>) => Promise<Batch<RunEventBody>>
}

/** A run that is about to be: readers wait for it, and recovery leaves it alone. Ends by one of its two calls. */
export interface Reservation {
  /** Resolves when the first event is in the log. */
  start: (spec: RunSpec) => Promise<void>
  /** Ends the run for a reason of its own; does nothing where it does not run. */
  abort: (reason: Error) => void
  release: () => void
}

export interface RunRegistry {
  /** Throws shutting_down once draining has begun. */
  reserve: (runId: string) => Reservation
  follow: (runId: string, options: { after: number, signal: AbortSignal }) => BatchStream<RunEvent>
  /** A run in a thread of the principal, or of its own without one, that this process runs or still holds the log of. */
  known: (principal: Principal, runId: string) => Pick<RunSpec, 'initialParts' | 'threadId'> & { readonly running: boolean } | undefined
  /** Running or reserved here. */
  isRunning: (runId: string) => boolean
  /** Idempotent; false when this process does not run it. Resolves when its end is stored. */
  stop: (runId: string, reason: Error) => Promise<boolean>
  readonly running: number
  /** Refuses new runs, lets the running ones finish for `timeoutMs`, then interrupts them. Resolves when all have ended. */
  drain: (timeoutMs: number) => Promise<void>
}

interface Running {
  readonly runId: string
  readonly spec: RunSpec
  readonly controller: AbortController
  ended: Promise<void>
  readers: number
}

/** Owns every run of this process: a reply is only a reader of what happens here. */
export function createRunRegistry ({ runLog, log, graceMs }: { runLog: RunLog, log: RunLogger, graceMs: number }): RunRegistry {
  const running = new Map<string, Running>()
  const starting = new Map<string, Promise<void>>()
  // Not whole specs: what a run was made of, its history among it, would be held as long.
  const remembered = new Map<string, Pick<RunSpec, 'principal' | 'threadId' | 'initialParts'>>()
  let draining = false

  return {
    reserve (runId) {
      if (draining) throw shuttingDown()
      let settled: () => void = () => {}
      starting.set(runId, new Promise((resolve) => { settled = resolve }))
      const release = () => {
        starting.delete(runId)
        settled()
      }
      return {
        release,
        start: (spec) => start(runId, spec).finally(release),
        abort: (reason) => { running.get(runId)?.controller.abort(reason) }
      }
    },
    follow: (runId, options) => isWatched(runId) ? watched(runId, options) : runLog.follow(runId, options),
    known (principal, runId) {
      const spec = remembered.get(runId)
      if (spec === undefined || ownerOf(spec.principal) !== ownerOf(principal) || spec.principal.tenantId !== principal.tenantId) return undefined
      return { initialParts: spec.initialParts, threadId: spec.threadId, running: running.has(runId) }
    },
    isRunning: (runId) => running.has(runId) || starting.has(runId),
    async stop (runId, reason) {
      await starting.get(runId)
      const run = running.get(runId)
      if (run === undefined) return false
      run.controller.abort(reason)
      await run.ended
      return true
    },
    get running () { return running.size },
    async drain (timeoutMs) {
      draining = true
      await Promise.all(starting.values())
      const ended = Promise.allSettled([...running.values()].map((run) => run.ended))
      const patience = new AbortController()
      await Promise.race([ended, delay(timeoutMs, patience.signal)])
      patience.abort()
      for (const run of running.values()) run.controller.abort(shuttingDown())
      await ended
    }
  }

  async function start (runId: string, spec: RunSpec): Promise<void> {
    const controller = new AbortController()
    const run: Running = { runId, spec, controller, ended: Promise.resolve(), readers: 0 }
    const events = spec.events(controller.signal, (reason) => { controller.abort(reason) })[Symbol.asyncIterator]()
    running.set(runId, run)
    remembered.set(runId, { principal: spec.principal, threadId: spec.threadId, initialParts: spec.initialParts })
    try {
      await take(run, await events.next())
    } catch (error) {
      release(runId)
      await events.return?.()
      throw error
    }
    run.ended = consume(run, events).catch((error: unknown) => { log.error({ err: error, runId }, 'the end of a run was lost') })
  }

  async function take ({ runId, spec }: Running, result: IteratorResult<Batch<RunEventBody>>): Promise<boolean> {
    if (result.done === true) return false
    const events = await spec.record?.(result.value) ?? result.value
    await runLog.append(runId, events)
    // A batch may be replaced by another ending; nothing may follow that either.
    return !isTerminal(events.at(-1)!) // a batch is never empty
  }

  /** The one detached promise of a run: it never rejects, and it leaves nothing behind. */
  async function consume (run: Running, events: AsyncIterator<Batch<RunEventBody>>): Promise<void> {
    const { runId } = run
    try {
      while (await take(run, await events.next()));
    } catch (error) {
      log.error({ err: error, runId }, 'a run was lost')
      const { code, message, retryable, ref } = toPublicError(error)
      await runLog.append(runId, [{ type: 'run-failed', code, message, retryable, ref }])
    } finally {
      release(runId)
      await events.return?.()
    }
  }

  function release (runId: string): void {
    running.delete(runId)
    const timer = setTimeout(() => { remembered.delete(runId) }, graceMs)
    timer.unref()
  }

  /** Only where it matters that a reader waits for the run, or leaves it: a layer less for every event of the others. */
  function isWatched (runId: string): boolean {
    return starting.has(runId) || running.get(runId)?.spec.onDisconnect === 'stop'
  }

  async function * watched (runId: string, options: { after: number, signal: AbortSignal }): AsyncGenerator<Batch<RunEvent>, void> {
    await starting.get(runId)
    const run = running.get(runId)
    if (run !== undefined) run.readers++
    try {
      yield * runLog.follow(runId, options)
    } finally {
      if (run !== undefined && --run.readers === 0 && run.spec.onDisconnect === 'stop') run.controller.abort(new RunStopped('the client left'))
    }
  }
}
