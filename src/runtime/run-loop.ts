import { AppError, toPublicError } from '../errors.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import { splitAtQuestion } from '../memories/replayable.ts'
import type { ModelMessage } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { askModel } from './ask-model.ts'
import { createBlockWriter } from './block-writer.ts'
import { checkCall, type CheckedCall } from './checked-call.ts'
import { crewOf, isCrewTool } from './crew-tools.ts'
import type { Frame } from './frame.ts'
import type { MemberOptions } from './member.ts'
import type { ModelStepOutcome } from './model-step.ts'
import { prepareMemory, recallInto } from './recall.ts'
import { missingTools, reminder, requiredTools } from './required-tools.ts'
import { responseProblem } from './response-shape.ts'
import { limitsOf, type LoopLimits } from './run-input.ts'
import type { RunState } from './run-state.ts'
import type { FrameCheckpoint, Resume } from './suspension.ts'
import { toolBatch, type ToolBatchOutcome } from './tool-batch.ts'
import { assembleTools, noTools, withModelNames, type Toolset } from './toolset.ts'

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

  if (resume !== undefined) {
    const step = stoppedStep(resume.frame, toolset)
    const batch = yield * runCalls(frame, { step, limits, loop, resume }, signal)
    const end = endAfter(frame, step, batch, [])
    if (end !== undefined) return end
  }
  for (;;) {
    state.step++
    const last = state.step >= limits.maxSteps || state.toolCalls >= limits.maxToolCalls
    const missing = last ? [] : missingTools(required, state)
    yield [{ type: 'step-start', step: state.step }]
    const outcome = yield * askModel(frame, { offered: last ? noTools : toolset, holdText: missing.length > 0 }, signal)

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

    const batch = yield * runCalls(frame, { step: outcome, limits, loop }, signal)
    const closing = [stepEnd(state, outcome)]
    const end = endAfter(frame, outcome, batch, closing)
    if (end?.kind === 'suspended') return end
    if (end === undefined && last) {
      yield [...closing, ...cappedNotice(frame, outcome)]
      return { kind: 'completed', finishReason: 'other', text: outcome.text, capped: true }
    }
    yield closing
    if (end !== undefined) return end
  }
}

async function * offerTools (frame: Frame, signal: AbortSignal): Steps<Toolset> {
  const { agent, useTools, run: { principal, threadId, runId, metadata, deps } } = frame
  const ofMemory = await prepareMemory(frame, signal)
  if (!useTools || (agent.tools.length === 0 && agent.crew.length === 0 && ofMemory.length === 0)) return noTools
  const sources = { tools: agent.tools, ofMemory, crew: (taken: ReadonlySet<string>) => crewOf(frame, taken) }
  const { toolset, unavailable } = await assembleTools(sources, { principal, threadId, runId, metadata, signal }, deps.log)
  if (unavailable.length > 0) yield unavailable.map((data) => ({ type: 'data', name: 'unavailable', data, transient: true }))
  return toolset
}

/** What a step's model said and asked for. */
type Said = Pick<ModelStepOutcome, 'text' | 'reasoning' | 'calls'>

/** The step that a checkpoint stopped in; a tool that is not offered any more is told so. */
function stoppedStep ({ text, reasoning, calls }: FrameCheckpoint, toolset: Toolset): Said {
  return { text, reasoning, calls: calls.map((call) => checkCall({ ...call, complete: true }, toolset)) }
}

interface BatchOptions extends LoopOptions { readonly step: Said, readonly limits: LoopLimits }

/** Runs the step's calls; once all are answered, writes the turn to the conversation: the assistant with its calls, then a result each. */
async function * runCalls (frame: Frame, { step: { text, reasoning, calls }, limits, loop, resume }: BatchOptions, signal: AbortSignal): Steps<ToolBatchOutcome> {
  const { state, slot } = frame
  // While it waits for members of its own, a member gives up its place to them.
  const delegates = calls.some((call) => call.ok && isCrewTool(call.offered.tool))
  if (delegates) slot?.lend()
  const batch = yield * toolBatch({ frame, calls, callsLeft: limits.maxToolCalls - state.toolCalls, signal, loop, resume })
  if (delegates) await slot?.reclaim(signal)
  if (batch.waiting.length > 0) return batch
  const results: ModelMessage[] = batch.results.map(({ call, content }) => ({ role: 'tool', callId: call.callId, toolName: call.modelName, content }))
  state.messages.push(
    { role: 'assistant', text, ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls: calls.map((call) => ({ callId: call.callId, toolName: call.modelName, arguments: call.arguments })) },
    ...results
  )
  state.toolCalls += batch.results.filter(({ ran }) => ran).length
  for (const { call, ran } of batch.results) if (ran) state.calledTools.add(call.toolName)
  return batch
}

function endAfter (frame: Frame, step: Said, { waiting, results, answer }: ToolBatchOutcome, closing: readonly RunEventBody[]): LoopEnd | undefined {
  const { agent, path, history, state } = frame
  if (waiting.length === 0) {
    if (answer === undefined) return undefined
    state.answer = { role: 'assistant', text: answer, toolCalls: [] }
    return { kind: 'completed', finishReason: 'stop', text: answer, capped: false }
  }
  const { recalled } = state
  const begun = recalled === undefined ? history.length : recalled.length + splitAtQuestion(history).turn.length
  const { text, reasoning, calls } = step
  return {
    kind: 'suspended',
    closing,
    checkpoint: {
      agentId: agent.id, path, text, reasoning, waiting,
      messages: state.messages.slice(begun),
      ...recalled === undefined ? {} : { recalled },
      step: state.step, toolCalls: state.toolCalls, reminders: state.reminders, calledTools: [...state.calledTools],
      calls: calls.map(asStored),
      results: results.map(({ call: { callId }, content, ran }) => ({ callId, content, ran }))
    }
  }
}

function asStored ({ callId, modelName, toolName, arguments: text }: CheckedCall): FrameCheckpoint['calls'][number] {
  return { callId, modelName, toolName, arguments: text }
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
    state.step++
    state.messages.push({ role: 'assistant', text, toolCalls: [] }, { role: 'user', content: problem })
    yield [{ type: 'step-start', step: state.step }]
    const next = yield * askModel(frame, { offered: noTools, holdText: false }, signal)
    yield [stepEnd(state, next)]
    ;({ text, reasoning, finishReason } = next)
  }
}

/** A filtered or empty answer never passes for a good one. */
function noticeFor ({ text, finishReason }: ModelStepOutcome, { state, path }: Frame): RunEventBody[] {
  if (finishReason === 'content-filter') {
    const { code, message, retryable, ref } = toPublicError(new AppError('content_filtered', "The answer was cut by the provider's content filter."))
    return [{ type: 'data', name: 'error', data: { code, message, retryable, ref } }]
  }
  // After a tool has run, saying nothing more can be the right answer; a member is asked for its report.
  if (text === '' && state.step === 1 && path.length === 0 && finishReason !== 'length') throw new AppError('provider_unavailable', 'The model gave an empty answer. Try again.')
  return []
}

/** In a step of its own: a client that sends tool results by itself would otherwise send these, as of a run that waits. */
function cappedNotice ({ mode, path, state }: Frame, { text }: ModelStepOutcome): RunEventBody[] {
  if (path.length > 0 || (mode === 'headless' && text !== '')) return []
  const step = state.step + 1
  const events: RunEventBody[] = [{ type: 'step-start', step }]
  const blocks = createBlockWriter(state.nextBlockId)
  blocks.text(`I stopped at the limit of this run (${state.step} steps, ${state.toolCalls} tool calls) without a finished answer.`, events)
  blocks.close(events)
  return [...events, { type: 'step-end', step }]
}

function stepEnd (state: RunState, { finishReason, usage }: ModelStepOutcome): RunEventBody {
  return { type: 'step-end', step: state.step, finishReason, usage }
}
