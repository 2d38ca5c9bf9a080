import type { RunEventBody } from '../events/run-event.ts'
import type { ModelRequest } from '../models/model.ts'
import type { Batch } from '../streams/batch.ts'
import type { Frame } from './frame.ts'
import { modelStep, type ModelStepOutcome } from './model-step.ts'
import { systemPrompt } from './system-prompt.ts'
import type { Toolset } from './toolset.ts'

export interface Question {
  readonly offered: Toolset
  /** See ModelStepInput. */
  readonly holdText: boolean
}

/** One model call of a frame, on its conversation as it stands. */
export function askModel (frame: Frame, { offered, holdText }: Question, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, ModelStepOutcome> {
  const { agent, state, run: { deps, runId } } = frame
  return modelStep({
    model: deps.models.get(agent.model), request: requestOf(frame, offered), toolset: offered,
    state, signal, timeouts: agent.timeouts, holdText, log: deps.log, runId, observer: deps.observer
  })
}

function requestOf (frame: Frame, { specs, roster }: Toolset): ModelRequest {
  const { agent, asked: { response, settings }, state } = frame
  return {
    instructions: systemPrompt(frame, roster),
    messages: state.messages,
    tools: specs,
    // A forced choice holds for the first step only: forced on every step, the run could never answer.
    toolChoice: state.step === 1 ? agent.toolChoice : 'auto',
    settings: settings === undefined ? agent.modelSettings : { ...agent.modelSettings, ...settings },
    // Bound to a shape, a model calls no tools: with tools the shape comes in a call of its own at the end.
    ...(response !== undefined && specs.length === 0 ? { responseSchema: response.schema } : {})
  }
}
