import { AppError } from '../errors.ts'
import { estimateUsage } from '../models/estimate.ts'
import type { Retry } from '../models/call-model.ts'
import { callWithFallback, type Fallback } from '../models/call-with-fallback.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { KeptReasoning, Model, ModelRequest } from '../models/model.ts'
import { delay, untilAborted } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import { closeBlock } from './blocks.ts'
import type { CheckedCall } from './checked-call.ts'
import type { Compactor } from './compactor.ts'
import type { Reservation } from './ledger.ts'
import type { RunState } from './run-state.ts'
import type { RunLogger } from './log.ts'
import type { ModelCallWatch, RunObserver } from './run-observer.ts'
import { afterHeld, newAnswer, reportUsage, take, type StepAnswer } from './step-answer.ts'
import type { StepHooks } from './step-hooks.ts'
import type { Toolset } from './toolset.ts'

export interface ModelStepInput extends StepHooks {
  readonly model: Model
  /** Asked in turn where the model fails before anything can be seen of its answer. */
  readonly fallbacks?: readonly Model[] | undefined
  readonly request: ModelRequest
  readonly toolset: Toolset
  readonly state: RunState
  readonly timeouts: { readonly firstTokenMs: number, readonly idleMs: number }
  readonly signal: AbortSignal
  /** Of the state's messages. Shortens them where the provider finds them too long, and the model is asked again. */
  readonly compactor?: Compactor | undefined
  /** What the run's budgets keep for this call; released when it is over. */
  readonly reservation?: Reservation | undefined
  /** Keeps an answer without tool calls back for the caller to show or drop. */
  readonly holdText: boolean
  readonly log: RunLogger
  readonly runId: string
  readonly observer?: RunObserver | undefined
}

export interface ModelStepOutcome {
  readonly text: string
  /** What the model wants back when it is asked again. */
  readonly reasoning: readonly KeptReasoning[]
  readonly calls: readonly CheckedCall[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  /** The held answer, when `holdText` and the model called nothing. */
  readonly held: readonly RunEventBody[]
}

// Twice what any model can say in one call: only a broken one gets there, and it would fill the memory.
const maxCharacters = 1_000_000
// After this much, a call is read at 16,000 characters a second at most (about 4,000 tokens, more than any model
// writes), so that an upstream that pours out text without end is held back and not taken in as fast as it can.
const unpacedCharacters = 200_000
const charactersPerMs = 16
const maxPauseMs = 100

/**
 * One model call as events. Calls come out checked, so each has its input complete or invalid when the step ends. Usage
 * is reported also when the call breaks off, estimated where the provider told none.
 */
export async function * modelStep (input: ModelStepInput): AsyncGenerator<Batch<RunEventBody>, ModelStepOutcome> {
  const { state, toolset, fallbacks = [], model, request, holdText, onUsage } = input
  const answer = newAnswer({ state, toolset, model, request, holdText, onUsage })
  let paced = 0
  let watch: ModelCallWatch | undefined
  let silent = true
  /** Of calls beside this one, not shown yet. */
  const aside: RunEventBody[] = []
  let asked = false

  try {
    answer.request = await preparedRequest(input)
    asked = !input.signal.aborted
    watch = watchCall()
    for await (const events of callWithFallback([model, ...fallbacks], answer.request, { signal: input.signal, timeouts: input.timeouts, onRetry: logRetry, onFallback: fallBack, shorten: input.compactor === undefined ? undefined : shorten })) {
      if (silent) watch?.firstOutput()
      silent = false
      const out = aside.splice(0)
      for (const event of events) take(answer, event, out)
      if (out.length > 0) yield out
      const pauseMs = pauseFor(answer.characters - Math.max(paced, unpacedCharacters))
      paced = answer.characters
      if (pauseMs > 0) await delay(pauseMs, input.signal)
      if (answer.characters > maxCharacters) throw new AppError('provider_unavailable', 'The model did not stop writing, so its answer was cut.')
    }
  } catch (error) {
    // A provider that was asked and then left has read the request, whether or not it had begun to answer.
    const tookSome = answer.characters > 0 || (asked && input.signal.aborted)
    const unreported = answer.usage === undefined && tookSome ? [...aside, reportEstimate(answer)] : aside
    watch?.end({ ok: false, error, usage: answer.usage, costUsd: answer.costUsd })
    if (unreported.length > 0) yield unreported
    throw error
  } finally {
    input.reservation?.release()
  }

  const closing: RunEventBody[] = []
  closeBlock(answer.blocks, afterHeld(answer, closing))
  if (answer.usage === undefined) closing.push(reportEstimate(answer))
  const { reasoning, calls, finishReason, costUsd, held } = answer
  const said = { text: answer.text.toString(), calls, finishReason, usage: answer.usage! } // reported above at the latest
  watch?.end({ ok: true, costUsd, ...said })
  if (closing.length > 0) yield closing
  return { ...said, reasoning, held: held ?? [] }

  function watchCall (): ModelCallWatch | undefined {
    return input.observer?.modelCall({ runId: input.runId, model: answer.model.id, request: answer.request })
  }

  async function shorten (error: AppError): Promise<ModelRequest | undefined> {
    const shorter = await input.compactor?.shorten(input.request, aside)
    if (shorter === undefined) return undefined
    endFailed(error)
    answer.request = await preparedRequest({ ...input, request: shorter })
    watch = watchCall()
    return answer.request
  }

  function fallBack ({ to, error }: Fallback): void {
    input.log.warn({ err: error, model: answer.model.id, fallback: to.id }, 'another model is asked instead')
    endFailed(error)
    answer.model = to
    watch = watchCall()
  }

  /** Of a call that another one takes the place of. */
  function endFailed (error: AppError): void {
    watch?.end({ ok: false, error, usage: answer.usage, costUsd: answer.costUsd })
    answer.usage = undefined
    answer.costUsd = undefined
    silent = true
  }

  function logRetry ({ attempt, delayMs, error }: Retry): void {
    input.log.warn({ err: error, attempt, delayMs, model: answer.model.id }, 'the model call is tried again')
  }
}

function reportEstimate (answer: StepAnswer): RunEventBody {
  return reportUsage(answer, estimateUsage(answer.request, answer.characters), true)
}

async function preparedRequest ({ request, beforeModel, signal }: ModelStepInput): Promise<ModelRequest> {
  return beforeModel === undefined ? request : await untilAborted(Promise.resolve(beforeModel(request)), signal)
}

/** Milliseconds to hold a model back that has written this much more than it may without a pause. */
function pauseFor (characters: number): number {
  return Math.min(characters / charactersPerMs, maxPauseMs)
}
