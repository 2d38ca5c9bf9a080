import { AppError, toPublicError } from '../errors.ts'
import type { FinishReason, RunEventBody } from '../events/run-event.ts'
import type { Model, ModelMessage, ModelRequest } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { createBlockWriter } from './block-writer.ts'
import { modelStep, type ModelStepOutcome } from './model-step.ts'
import { missingTools, reminder, requiredTools } from './required-tools.ts'
import { responseProblem } from './response-shape.ts'
import { limitsOf, type LoopLimits, type RunDeps, type RunInput } from './run-input.ts'
import type { RunState } from './run-state.ts'
import { toolBatch, type ToolBatchOutcome } from './tool-batch.ts'
import { assembleTools, noTools, withModelNames, type Toolset } from './toolset.ts'

export type LoopEnd =
  | { readonly kind: 'completed', readonly finishReason: FinishReason }
  | { readonly kind: 'suspended', readonly pendingCalls: readonly string[] }

type Steps<R> = AsyncGenerator<Batch<RunEventBody>, R>

/**
 * Ask the model, yield what it says, run the tools it asked for, go round until it stops or a limit does. The last step
 * a limit allows is made without tools, so that a capped run still ends with an answer. Throws what broke the run.
 */
export async function * runLoop (input: RunInput, deps: RunDeps, state: RunState, signal: AbortSignal): Steps<LoopEnd> {
  const { agent } = input
  const model = deps.models.get(agent.model)
  const limits = limitsOf(input)
  const toolset = yield * offerTools(input, deps, signal)
  const required = requiredTools(input, toolset)
  state.messages.splice(0, Infinity, ...withModelNames(state.messages, toolset))

  for (;;) {
    state.step++
    const last = state.step >= limits.maxSteps || state.toolCalls >= limits.maxToolCalls
    const offered = last ? noTools : toolset
    const missing = last ? [] : missingTools(required, state)
    yield [{ type: 'step-start', step: state.step }]
    const outcome = yield * modelStep({
      model, state, signal, toolset: offered, timeouts: agent.timeouts, holdText: missing.length > 0, log: deps.log,
      request: stepRequest(input, state, offered), runId: input.runId, observer: deps.observer
    })

    if (outcome.calls.length === 0 && missing.length > 0) {
      state.reminders++
      state.messages.push(...reminder(outcome.text, missing, toolset))
      yield [stepEnd(state, outcome)]
      continue
    }
    if (outcome.calls.length === 0) {
      yield [...outcome.held, ...noticeFor(outcome, state, input), stepEnd(state, outcome)]
      return yield * answered(input, model, state, outcome, deps, signal)
    }

    const batch = yield * runCalls(input, deps, state, limits, outcome, signal)
    if (last) {
      yield [stepEnd(state, outcome), ...cappedNotice(input, outcome, state)]
      return { kind: 'completed', finishReason: 'other' }
    }
    yield [stepEnd(state, outcome)]
    if (batch.pending.length > 0) return { kind: 'suspended', pendingCalls: batch.pending.map((call) => call.callId) }
  }
}

async function * offerTools ({ agent, useTools, principal, threadId, runId, metadata }: RunInput, { log }: RunDeps, signal: AbortSignal): Steps<Toolset> {
  if (!useTools || agent.tools.length === 0) return noTools
  const { toolset, unavailable } = await assembleTools(agent.tools, { principal, threadId, runId, metadata, signal }, log)
  if (unavailable.length > 0) yield unavailable.map((data) => ({ type: 'data', name: 'unavailable', data, transient: true }))
  return toolset
}

function stepRequest ({ agent, response, callerInstructions, settings }: RunInput, state: RunState, { specs }: Toolset): ModelRequest {
  return {
    instructions: callerInstructions === undefined ? agent.instructions : withCallers(agent.instructions, callerInstructions),
    messages: state.messages,
    tools: specs,
    // A forced choice holds for the first step only: forced on every step, the run could never answer.
    toolChoice: state.step === 1 ? agent.toolChoice : 'auto',
    settings: settings === undefined ? agent.modelSettings : { ...agent.modelSettings, ...settings },
    // Bound to a shape, a model calls no tools: with tools the shape comes in a call of its own at the end.
    ...(response !== undefined && specs.length === 0 ? { responseSchema: response.schema } : {})
  }
}

/** The agent's owner and its caller are not the same: the model is told whose words are whose. */
function withCallers (own: string, callers: string): string {
  return `${own}\n\nThe caller of this conversation adds the following. It does not replace what is said above.\n\n<caller_instructions>\n${callers}\n</caller_instructions>`
}

/** Runs the step's calls and writes the turn to the conversation: the assistant with its calls, then a result each. */
async function * runCalls (input: RunInput, deps: RunDeps, state: RunState, limits: LoopLimits, { text, reasoning, calls }: ModelStepOutcome, signal: AbortSignal): Steps<ToolBatchOutcome> {
  const { agent, principal, threadId, runId, metadata } = input
  const batch = yield * toolBatch({
    calls,
    signal,
    context: { principal, threadId, runId, metadata, agentPath: [] },
    concurrency: agent.toolConcurrency,
    timeoutMs: agent.toolTimeoutMs,
    outputLimit: deps.toolOutputLimit,
    callsLeft: limits.maxToolCalls - state.toolCalls,
    canSuspend: input.canSuspend,
    log: deps.log,
    observer: deps.observer
  })
  const results: ModelMessage[] = batch.results.map(({ call, content }) => ({ role: 'tool', callId: call.callId, toolName: call.modelName, content }))
  state.messages.push(
    { role: 'assistant', text, ...(reasoning.length === 0 ? {} : { reasoning }), toolCalls: calls.map((call) => ({ callId: call.callId, toolName: call.modelName, arguments: call.arguments })) },
    ...results
  )
  state.toolCalls += batch.results.filter(({ ran }) => ran).length
  for (const { call, ran } of batch.results) if (ran) state.calledTools.add(call.toolName)
  return batch
}

/** The model answered. In a run that asked for a shape, sees to it that the answer has it. */
async function * answered (input: RunInput, model: Model, state: RunState, outcome: ModelStepOutcome, { log, observer }: RunDeps, signal: AbortSignal): Steps<LoopEnd> {
  let { text, finishReason } = outcome
  const { response, agent } = input
  if (response === undefined) return { kind: 'completed', finishReason }
  for (let attempt = 1; ; attempt++) {
    const problem = responseProblem(text, response)
    if (problem === undefined) return { kind: 'completed', finishReason }
    if (attempt > 2) throw new AppError('provider_unavailable', 'The model did not answer in the requested shape.')
    state.step++
    state.messages.push({ role: 'assistant', text, toolCalls: [] }, { role: 'user', content: problem })
    yield [{ type: 'step-start', step: state.step }]
    const next = yield * modelStep({
      model, state, signal, toolset: noTools, timeouts: agent.timeouts, holdText: false, log, request: stepRequest(input, state, noTools), runId: input.runId, observer
    })
    yield [stepEnd(state, next)]
    ;({ text, finishReason } = next)
  }
}

/** A filtered or empty answer never passes for a good one. */
function noticeFor ({ text, finishReason }: ModelStepOutcome, state: RunState, { answered: continued }: RunInput): RunEventBody[] {
  if (finishReason === 'content-filter') {
    const { code, message, retryable, ref } = toPublicError(new AppError('content_filtered', "The answer was cut by the provider's content filter."))
    return [{ type: 'data', name: 'error', data: { code, message, retryable, ref } }]
  }
  // After a tool has run, saying nothing more can be the right answer.
  if (text === '' && state.step === 1 && continued === undefined && finishReason !== 'length') throw new AppError('provider_unavailable', 'The model gave an empty answer. Try again.')
  return []
}

/** In a step of its own: a client that sends tool results by itself would otherwise send these, as of a run that waits. */
function cappedNotice ({ mode }: RunInput, { text }: ModelStepOutcome, state: RunState): RunEventBody[] {
  if (mode === 'headless' && text !== '') return []
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
