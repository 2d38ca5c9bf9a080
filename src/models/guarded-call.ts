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
  const call: CallState = {
    model, request, signal, timeouts, controller: new AbortController(), limitMs: timeouts.firstTokenMs,
    source: undefined, waiting: undefined, timer: undefined, last: undefined, ended: false, failure: undefined,
    onAbort: () => { aborted(call) },
    onResult: (result) => { arrived(call, result) },
    onFailure: (error) => { fail(call, error) }
  }
  return { next: () => next(call), close: () => close(call) }
}

/** One call's. Not variables that its functions share: those would be made anew for every call. */
interface CallState {
  readonly model: Model
  readonly request: ModelRequest
  readonly signal: AbortSignal
  readonly timeouts: CallTimeouts
  readonly controller: AbortController
  source: AsyncIterator<Batch<ModelEvent>, unknown> | undefined
  waiting: Waiting | undefined
  timer: NodeJS.Timeout | undefined
  limitMs: number
  last: ModelEvent | undefined
  ended: boolean
  failure: { readonly reason: unknown } | undefined
  readonly onAbort: () => void
  readonly onResult: (result: IteratorResult<Batch<ModelEvent>, unknown>) => void
  readonly onFailure: (error: unknown) => void
}

function next (call: CallState): Promise<Result> {
  if (call.failure !== undefined) return Promise.reject(call.failure.reason)
  if (call.ended) return Promise.resolve({ done: true, value: undefined })
  return new Promise<Result>((resolve, reject) => {
    call.waiting = { since: performance.now(), resolve, reject }
    if (call.signal.aborted) return fail(call, call.signal.reason)
    if (call.source === undefined) open(call)
    call.source?.next().then(call.onResult, call.onFailure)
  })
}

function open (call: CallState): void {
  call.signal.addEventListener('abort', call.onAbort, { once: true })
  call.timer = setTimeout(onTimer, call.limitMs, call)
  try {
    call.source = call.model.generate(call.request, { signal: call.controller.signal })[Symbol.asyncIterator]()
  } catch (error) {
    fail(call, error)
  }
}

function arrived (call: CallState, result: IteratorResult<Batch<ModelEvent>, unknown>): void {
  if (call.waiting === undefined) return
  if (result.done !== true) {
    if (call.limitMs !== call.timeouts.idleMs) limitFromNow(call, call.timeouts.idleMs)
    call.last = result.value.at(-1) ?? call.last
    settle(call)?.resolve(result)
  } else if (call.last?.type === 'finish') {
    const { resolve } = call.waiting
    release(call)
    resolve({ done: true, value: undefined })
  } else {
    fail(call, new AppError('provider_unavailable', 'The model broke off while it was answering. Try again.'))
  }
}

function aborted (call: CallState): void {
  if (call.waiting === undefined) stop(call, call.signal.reason)
  else fail(call, call.signal.reason)
}

/** Once a call, after its first event: a longer limit that still ran would hide the end of a shorter one. */
function limitFromNow (call: CallState, ms: number): void {
  call.limitMs = ms
  clearTimeout(call.timer)
  call.timer = setTimeout(onTimer, ms, call)
}

function onTimer (call: CallState): void {
  const waitedMs = call.waiting === undefined ? 0 : performance.now() - call.waiting.since
  // A timer may fire a fraction of a millisecond early.
  if (call.waiting !== undefined && waitedMs >= call.limitMs - 1) fail(call, timedOut())
  else call.timer = setTimeout(onTimer, call.limitMs - waitedMs, call)
}

function settle (call: CallState): Waiting | undefined {
  const was = call.waiting
  call.waiting = undefined
  return was
}

/** Not waited for: a model that does not settle would hold its caller for ever. */
function fail (call: CallState, error: unknown): void {
  const reader = settle(call)
  if (reader === undefined) return
  stop(call, error)
  reader.reject(error)
}

function stop (call: CallState, reason: unknown): void {
  const open = call.source
  call.failure = { reason }
  release(call)
  call.controller.abort(reason)
  open?.return?.().catch(noListener)
}

function release (call: CallState): void {
  call.ended = true
  call.waiting = undefined
  call.source = undefined
  clearTimeout(call.timer)
  call.signal.removeEventListener('abort', call.onAbort)
}

async function close (call: CallState): Promise<void> {
  if (call.ended) return
  const open = call.source
  release(call)
  // First closed, then aborted: a model between two events ends where it stands.
  const closed = open?.return?.()
  call.controller.abort()
  await closed?.catch(noListener)
}

function timedOut (): AppError {
  return new AppError('provider_timeout', 'The model took too long to answer. Try again.')
}

// What a model throws after its call was given up concerns nobody.
function noListener (): void {}
