import { AppError } from '../errors.ts'
import type { Batch } from '../streams/batch.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'

type Result = IteratorResult<Batch<ModelEvent>, void>

export interface CallTimeouts {
  /** From a request to its first event. */
  readonly firstTokenMs: number
  /** Of silence after it. Time in which nobody asked for events does not count. */
  readonly idleMs: number
}

export interface GuardedCall {
  /** Never waits longer than the deadlines and the signal allow. */
  next: () => Promise<Result>
  close: () => Promise<void>
}

interface Waiting {
  readonly since: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * A model's iterator under a signal and deadlines. One timer serves the whole call and looks, when it fires, how long
 * the wait has lasted: a timer or a race for every event would cost more than the event.
 */
export function createGuardedCall (model: Model, request: ModelRequest, { signal, timeouts }: { readonly signal: AbortSignal, readonly timeouts: CallTimeouts }): GuardedCall {
  const controller = new AbortController()
  let source: AsyncIterator<Batch<ModelEvent>, unknown> | undefined
  let waiting: Waiting | undefined
  let timer: NodeJS.Timeout | undefined
  let limitMs = timeouts.firstTokenMs
  let last: ModelEvent | undefined
  let ended = false
  let failure: { readonly reason: unknown } | undefined

  return { next, close }

  function next (): Promise<Result> {
    if (failure !== undefined) return Promise.reject(failure.reason)
    if (ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise<Result>((resolve, reject) => {
      waiting = { since: performance.now(), resolve, reject }
      if (signal.aborted) return fail(signal.reason)
      if (source === undefined) open()
      source?.next().then(onResult, fail)
    })
  }

  function open (): void {
    signal.addEventListener('abort', onAbort, { once: true })
    timer = setTimeout(onTimer, limitMs)
    try {
      source = model.generate(request, { signal: controller.signal })[Symbol.asyncIterator]()
    } catch (error) {
      fail(error)
    }
  }

  function onResult (result: IteratorResult<Batch<ModelEvent>, unknown>): void {
    if (waiting === undefined) return
    if (result.done !== true) {
      if (limitMs !== timeouts.idleMs) limitFromNow(timeouts.idleMs)
      last = result.value.at(-1) ?? last
      settle()?.resolve(result)
    } else if (last?.type === 'finish') {
      const { resolve } = waiting
      release()
      resolve({ done: true, value: undefined })
    } else {
      fail(new AppError('provider_unavailable', 'The model broke off while it was answering. Try again.'))
    }
  }

  function onAbort (): void {
    if (waiting === undefined) stop(signal.reason)
    else fail(signal.reason)
  }

  /** Once a call, after its first event: a longer limit that still ran would hide the end of a shorter one. */
  function limitFromNow (ms: number): void {
    limitMs = ms
    clearTimeout(timer)
    timer = setTimeout(onTimer, ms)
  }

  function onTimer (): void {
    const waitedMs = waiting === undefined ? 0 : performance.now() - waiting.since
    // A timer may fire a fraction of a millisecond early.
    if (waiting !== undefined && waitedMs >= limitMs - 1) fail(timedOut())
    else timer = setTimeout(onTimer, limitMs - waitedMs)
  }

  function settle (): Waiting | undefined {
    const was = waiting
    waiting = undefined
    return was
  }

  /** Not waited for: a model that does not settle would hold its caller for ever. */
  function fail (error: unknown): void {
    const reader = settle()
    if (reader === undefined) return
    stop(error)
    reader.reject(error)
  }

  function stop (reason: unknown): void {
    const open = source
    failure = { reason }
    release()
    controller.abort(reason)
    open?.return?.().catch(noListener)
  }

  function release (): void {
    ended = true
    waiting = undefined
    source = undefined
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }

  async function close (): Promise<void> {
    if (ended) return
    const open = source
    release()
    // First closed, then aborted: a model between two events ends where it stands.
    const closed = open?.return?.()
    controller.abort()
    await closed?.catch(noListener)
  }
}

function timedOut (): AppError {
  return new AppError('provider_timeout', 'The model took too long to answer. Try again.')
}

// What a model throws after its call was given up concerns nobody.
function noListener (): void {}
