import { isAppError, type AppError, type ErrorCode } from '../errors.ts'
import type { Batch, BatchStream } from '../streams/batch.ts'
import { callModel, type CallOptions } from './call-model.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'

export interface Fallback {
  readonly from: Model
  readonly to: Model
  readonly error: AppError
}

export interface FallbackOptions extends CallOptions {
  /** Told before the next model is asked: what comes after is that one's. */
  readonly onFallback?: ((fallback: Fallback) => void) | undefined
  /** A shorter request for a model that finds this one too long, or undefined where there is none. Asked for once. */
  readonly shorten?: ((error: AppError) => Promise<ModelRequest | undefined>) | undefined
}

/**
 * Where another model may do better. Not `content_filtered`: a filter has spoken, and a laxer one is no way around it. Not
 * an error that is not the provider's, nor a stop.
 */
const helped: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['provider_unavailable', 'provider_timeout', 'rate_limited', 'configuration_error', 'context_overflow'])

/**
 * One answer of the first of several models that gives one. The next is asked where a model failed, its retries included,
 * before anything could be seen of its answer. Where all fail, the error is the first model's: it is the one the agent is
 * meant to have. To be read once.
 */
export function callWithFallback (models: readonly [Model, ...Model[]], request: ModelRequest, options: FallbackOptions): BatchStream<ModelEvent> {
  const [only, ...others] = models
  if (others.length === 0 && options.shorten === undefined) return callModel(only, request, options)
  return { [Symbol.asyncIterator]: () => iterate(models, request, options) }
}

/** By hand and not a generator: once something was seen each `next` is the call's own. */
function iterate ([first, ...others]: readonly [Model, ...Model[]], original: ModelRequest, options: FallbackOptions): AsyncIterator<Batch<ModelEvent>, void> {
  const left = [...others]
  let request = original
  let { shorten } = options
  let current = first
  let call = begin(first)
  let seen = false
  let failure: unknown

  return {
    next: () => seen ? call.next() : nextUnseen(),
    async return () {
      await call.return?.()
      return { done: true, value: undefined }
    }
  }

  function begin (model: Model): AsyncIterator<Batch<ModelEvent>, void> {
    return callModel(model, request, options)[Symbol.asyncIterator]()
  }

  async function nextUnseen (): Promise<IteratorResult<Batch<ModelEvent>, void>> {
    for (;;) {
      try {
        const result = await call.next()
        seen = result.done === true || result.value.some(isSeen)
        return result
      } catch (error) {
        if (!await shortened(error)) fallBack(error)
      }
    }
  }

  async function shortened (error: unknown): Promise<boolean> {
    if (shorten === undefined || options.signal.aborted || !isAppError(error) || error.code !== 'context_overflow') return false
    const shorter = await shorten(error)
    shorten = undefined
    if (shorter === undefined) return false
    request = shorter
    call = begin(current)
    return true
  }

  function fallBack (error: unknown): void {
    failure ??= error
    if (options.signal.aborted || !isAppError(error) || !helped.has(error.code)) throw error
    const next = left.shift()
    if (next === undefined) throw failure
    options.onFallback?.({ from: current, to: next, error })
    current = next
    call = begin(next)
  }
}

/** What a call has used says nothing yet. */
function isSeen ({ type }: ModelEvent): boolean {
  return type !== 'usage'
}
