import type { RunEventBody, RunEventOf, RunEventType } from '../../../src/events/run-event.ts'
import type { ModelRequest } from '../../../src/models/model.ts'
import { modelStep, type ModelStepInput, type ModelStepOutcome } from '../../../src/runtime/model-step.ts'
import { createRunState, type RunState } from '../../../src/runtime/run-state.ts'
import { noTools } from '../../../src/runtime/toolset.ts'
import { recordingLog, type LoggedLine } from '../../helpers/memory-turns.ts'

export interface Stepped {
  readonly state: RunState
  readonly events: readonly RunEventBody[]
  readonly of: <T extends RunEventType>(type: T) => Array<RunEventOf<T>>
  readonly log: readonly LoggedLine[]
  /** Absent when the step threw. */
  readonly outcome: ModelStepOutcome | undefined
  readonly error: unknown
}

export const request: ModelRequest = { instructions: 'Help.', messages: [{ role: 'user', content: 'hello' }], tools: [], toolChoice: 'auto', settings: {} }

/** One model call as the run loop makes it. */
export async function step (input: Partial<ModelStepInput> & Pick<ModelStepInput, 'model'>): Promise<Stepped> {
  const log = recordingLog()
  const state = input.state ?? createRunState(request.messages)
  const events: RunEventBody[] = []
  let outcome: ModelStepOutcome | undefined
  let error: unknown
  const steps = modelStep({
    request, state, log, toolset: noTools, timeouts: { firstTokenMs: 5_000, idleMs: 5_000 }, signal: new AbortController().signal,
    holdText: false, runId: 'run-1', ...input
  })
  try {
    let next = await steps.next()
    while (next.done !== true) {
      events.push(...next.value)
      next = await steps.next()
    }
    outcome = next.value
  } catch (thrown) {
    error = thrown
  }
  return { state, events, outcome, error, log: log.lines, of: <T extends RunEventType>(type: T) => events.filter((event): event is RunEventOf<T> => event.type === type) }
}

/** Watches a step's model calls. */
export function watching (): { observer: NonNullable<ModelStepInput['observer']>, calls: unknown[] } {
  const calls: unknown[] = []
  return {
    calls,
    observer: {
      run: () => () => {},
      toolCall: () => () => {},
      modelCall: ({ model }) => ({ firstOutput: () => {}, end: (end) => { calls.push({ model, ...end }) } })
    }
  }
}
