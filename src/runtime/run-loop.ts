import { AppError } from '../errors.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import { askModel, beginStep } from './ask-model.ts'
import { hasRoomToGoOn } from './budget-end.ts'
import { checkpointOf, stoppedStep } from './checkpoint.ts'
import type { Frame } from './frame.ts'
import type { MemberOptions } from './member.ts'
import { modelStep, type ModelStepOutcome } from './model-step.ts'
import { nextMove } from './next-move.ts'
import { budgetNotice, cappedNotice, noticeFor, stopNotice } from './notices.ts'
import { offerTools } from './offer-tools.ts'
import { recallInto } from './recall.ts'
import { missingTools, reminder, requiredTools } from './required-tools.ts'
import { responseProblem } from './response-shape.ts'
import { refuseCalls, runCalls, type Said } from './run-calls.ts'
import { limitsOf } from './run-input.ts'
import type { RunState } from './run-state.ts'
import type { FrameCheckpoint, Resume } from './suspension.ts'
import type { ToolBatchOutcome } from './tool-batch.ts'
import { noTools, withModelNames } from './toolset.ts'

export type LoopEnd =
  /** `text`: the answer; empty where the last step said nothing. `capped`: a limit of the loop ended it. */
  | { readonly kind: 'completed', readonly finishReason: FinishReason, readonly text: string, readonly capped: boolean }
  /** `closing`: what ends the step, to be told with what it waits for. */
  | { readonly kind: 'suspended', readonly checkpoint: FrameCheckpoint, readonly closing: readonly RunEventBody[] }

export interface LoopOptions extends Pick<MemberOptions, 'loop'> {
  /** Where the agent stopped, and the answers its calls got. */
  readonly resume?: { readonly frame: FrameCheckpoint, readonly answers: Resume } | undefined
}

type Steps<R> = AsyncGenerator<Batch<RunEventBody>, R>

/**
 * Ask the model, yield what it says, run the tools it asked for, go round until it stops or a limit does. The last step
 * a limit allows is made without tools, so that a capped run still ends with an answer. With `resume` it goes on in the
 * middle of the batch where it stopped. Throws what broke it.
 */
export async function * runLoop (frame: Frame, signal: AbortSignal, { loop, resume }: LoopOptions): Steps<LoopEnd> {
  const { state } = frame
  const limits = limitsOf(frame)
  const toolset = yield * offerTools(frame, signal)
  if (resume === undefined) await recallInto(frame, toolset, signal)
  const required = requiredTools(frame, toolset)
  state.messages.splice(0, Infinity, ...withModelNames(state.messages, toolset))
  let mustAnswer = false

  if (resume !== undefined) {
    const step = stoppedStep(resume.frame, toolset)
    const batch = yield * runCalls(frame, { step, limits, loop, resume }, signal)
    const end = endAfter(frame, step, batch, [])
    if (end !== undefined) return end
    const move = await nextMove(frame, step.calls, batch, signal)
    if (move === 'end') return yield * stopped(frame, step)
    mustAnswer = move === 'answer'
  }
  for (;;) {
    const last = mustAnswer || state.step + 1 >= limits.maxSteps || state.toolCalls >= limits.maxToolCalls
    const missing = last ? [] : missingTools(required, state)
    const asked = yield * beginStep(frame, { offered: last ? noTools : toolset, holdText: missing.length > 0 }, signal)
    if (asked === undefined) return yield * outOfBudget(frame)
    const outcome = yield * modelStep(asked)

    if (outcome.calls.length === 0 && missing.length > 0) {
      state.reminders++
      state.messages.push(...reminder(outcome.text, missing, toolset))
      yield [stepEnd(state, outcome)]
      continue
    }
    if (outcome.calls.length === 0) {
      yield [...outcome.held, ...noticeFor(outcome, frame), stepEnd(state, outcome)]
      return yield * answered(frame, outcome, last, signal)
    }

    const affordable = hasRoomToGoOn(frame, outcome.usage)
    const batch = yield * affordable ? runCalls(frame, { step: outcome, limits, loop }, signal) : refuseCalls(frame, outcome)
    const closing = [stepEnd(state, outcome)]
    const end = endAfter(frame, outcome, batch, closing)
    if (end?.kind === 'suspended') return end
    if (end === undefined && last) {
      yield [...closing, ...cappedNotice(frame, outcome)]
      return { kind: 'completed', finishReason: 'other', text: outcome.text, capped: true }
    }
    yield closing
    if (end !== undefined) return end
    const move = await nextMove(frame, outcome.calls, batch, signal)
    if (move === 'end') return yield * stopped(frame, outcome)
    mustAnswer = move === 'answer' || !affordable
  }
}

function endAfter (frame: Frame, step: Said, batch: ToolBatchOutcome, closing: readonly RunEventBody[]): LoopEnd | undefined {
  if (batch.waiting.length > 0) return { kind: 'suspended', closing, checkpoint: checkpointOf(frame, step, batch) }
  if (batch.answer === undefined) return undefined
  frame.state.answer = { role: 'assistant', text: batch.answer, toolCalls: [] }
  return { kind: 'completed', finishReason: 'stop', text: batch.answer, capped: false }
}

/** A condition of the agent holds. */
async function * stopped (frame: Frame, { text }: Said): Steps<LoopEnd> {
  const notice = stopNotice(frame)
  if (notice.length > 0) yield notice
  return { kind: 'completed', finishReason: 'stop', text, capped: false }
}

/** There is no room for another call of the model. */
async function * outOfBudget (frame: Frame): Steps<LoopEnd> {
  if (frame.asked.response !== undefined) throw new AppError('quota_exceeded', 'The budget of this run is used up.')
  const notice = budgetNotice(frame)
  if (notice.length > 0) yield notice
  return { kind: 'completed', finishReason: 'other', text: '', capped: true }
}

/** The model answered. In a run that asked for a shape, sees to it that the answer has it. */
async function * answered (frame: Frame, outcome: ModelStepOutcome, capped: boolean, signal: AbortSignal): Steps<LoopEnd> {
  let { text, reasoning, finishReason } = outcome
  const { asked: { response }, state } = frame
  for (let attempt = 1; ; attempt++) {
    const problem = response === undefined ? undefined : responseProblem(text, response)
    if (problem === undefined) {
      if (text !== '') state.answer = { role: 'assistant', text, ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls: [] }
      return { kind: 'completed', finishReason, text, capped }
    }
    if (attempt > 2) throw new AppError('provider_unavailable', 'The model did not answer in the requested shape.')
    state.messages.push({ role: 'assistant', text, toolCalls: [] }, { role: 'user', content: problem })
    const next = yield * askModel(frame, { offered: noTools, holdText: false }, signal)
    if (next === undefined) return yield * outOfBudget(frame)
    yield [stepEnd(state, next)]
    ;({ text, reasoning, finishReason } = next)
  }
}

function stepEnd (state: RunState, { finishReason, usage }: ModelStepOutcome): RunEventBody {
  return { type: 'step-end', step: state.step, finishReason, usage }
}
