import { isAppError, type AppError, type ErrorCode } from '../errors.ts'
import { delay } from '../streams/abort.ts'
import type { Batch, BatchStream } from '../streams/batch.ts'
import { createGuardedCall, type CallTimeouts } from './guarded-call.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'

export interface Retry {
  /** 1 for the first repetition. */
  readonly attempt: number
  readonly delayMs: number
  readonly error: AppError
}

export interface CallOptions {
  readonly signal: AbortSignal
  readonly timeouts: CallTimeouts
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** Ends early, without error, when the signal aborts. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
  readonly random?: (() => number) | undefined
}

const maxRetries = 2
const backoffMs = 500
const maxRetryAfterMs = 20_000
const retried: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['provider_unavailable', 'provider_timeout', 'rate_limited'])

/**
 * One answer of a model, with deadlines, and asked for again where it failed before its first event. An abort of
 * `signal` throws its reason at once, whatever the model does; the model's iterator is closed in every case. To be read
 * once.
 */
export function callModel (model: Model, request: ModelRequest, options: CallOptions): BatchStream<ModelEvent> {
  return { [Symbol.asyncIterator]: () => iterate(model, request, options) }
}

/** By hand and not a generator: after the first batch each `next` is the guarded call's own. */
function iterate (model: Model, request: ModelRequest, options: CallOptions): AsyncIterator<Batch<ModelEvent>, void> {
  let call = createGuardedCall(model, request, options)
  let begun = false

  return {
    next: () => begun ? call.next() : begin(),
    return: async () => {
      await call.close()
      return { done: true, value: undefined }
    }
  }

  async function begin (): Promise<IteratorResult<Batch<ModelEvent>, void>> {
    for (let attempt = 1; ; attempt++) {
      try {
        const first = await call.next()
        begun = true
        return first
      } catch (error) {
        await beforeRetry(error, attempt, options)
        call = createGuardedCall(model, request, options)
      }
    }
  }
}

async function beforeRetry (error: unknown, attempt: number, { signal, onRetry, sleep = delay, random = Math.random }: CallOptions): Promise<void> {
  if (signal.aborted || attempt > maxRetries || !isAppError(error) || !retried.has(error.code)) throw error
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined && retryAfterMs > maxRetryAfterMs) throw error
  // Full jitter: clients that failed together do not come back together.
  const delayMs = retryAfterMs ?? Math.round(random() * backoffMs * 2 ** (attempt - 1))
  onRetry?.({ attempt, delayMs, error })
  await sleep(delayMs, signal)
  signal.throwIfAborted()
}
