import type { RunEventBody } from '../events/run-event.ts'
import type { ModelRequest } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import { beginAsking } from './asking.ts'
import { toolChoiceFor } from './choose-tools.ts'
import type { Frame } from './frame.ts'
import { modelStep, type ModelStepInput, type ModelStepOutcome } from './model-step.ts'
import { prepareCall } from './prepare-call.ts'
import { systemPrompt } from './system-prompt.ts'
import type { Toolset } from './toolset.ts'

export interface Question {
  readonly offered: Toolset
  /** See ModelStepInput. */
  readonly holdText: boolean
}

/** One model call of a frame, see `beginStep`. */
export async function * askModel (frame: Frame, question: Question, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, ModelStepOutcome | undefined> {
  const step = yield * beginStep(frame, question, signal)
  return step === undefined ? undefined : yield * modelStep(step)
}

/**
 * What a model call of a frame is made with, on its conversation as it stands. It begins a step, which its caller ends.
 * Undefined, with no step begun, where the budgets of the run have no room for the call.
 */
export async function * beginStep (frame: Frame, { offered, holdText }: Question, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, ModelStepInput | undefined> {
  const { agent, state, run: { deps, runId } } = frame
  const { instructions, compactor, hooks } = state.asking ??= await beginAsking(frame, signal)
  const model = deps.models.get(agent.model)
  const fallbacks = agent.fallbackModels.map((id) => deps.models.get(id))
  const step = state.step + 1
  const call = yield * prepareCall(requestOf(frame, { offered, instructions, step }), { model, state, compactor })
  if (call === undefined) return undefined
  state.step = step
  yield [{ type: 'step-start', step }]
  const { request, reservation } = call
  const { beforeModel, onUsage } = hooks
  return {
    request, reservation, beforeModel, onUsage, model, fallbacks, compactor, state, signal, holdText, runId,
    toolset: offered, timeouts: agent.timeouts, log: deps.log, observer: deps.observer
  }
}

function requestOf (frame: Frame, { offered, instructions, step }: { readonly offered: Toolset, readonly instructions: string, readonly step: number }): ModelRequest {
  const { agent, asked: { response, settings }, state: { messages, calledTools } } = frame
  const { specs, roster } = offered
  return {
    instructions: systemPrompt(frame, instructions, roster),
    messages,
    tools: specs,
    toolChoice: toolChoiceFor(agent, { step, messages, calledTools }, offered),
    settings: settings === undefined ? agent.modelSettings : { ...agent.modelSettings, ...settings },
    // Bound to a shape, a model calls no tools: with tools the shape comes in a call of its own at the end.
    ...(response !== undefined && specs.length === 0 ? { responseSchema: response.schema } : {})
  }
}
