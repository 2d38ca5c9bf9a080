import { splitAtQuestion } from '../memories/replayable.ts'
import { toJsonSafe } from '../tools/serialise.ts'
import { checkCall, type CheckedCall } from './checked-call.ts'
import type { Frame } from './frame.ts'
import type { Said } from './run-calls.ts'
import { workedMs } from './run-state.ts'
import type { FrameCheckpoint } from './suspension.ts'
import type { ToolBatchOutcome } from './tool-batch.ts'
import type { Toolset } from './toolset.ts'

/** Where an agent stops in the middle of a step's calls. */
export function checkpointOf ({ agent, path, history, state }: Frame, { text, reasoning, calls }: Said, { waiting, results }: ToolBatchOutcome): FrameCheckpoint {
  const { recalled } = state
  const begun = recalled === undefined ? history.length : recalled.length + splitAtQuestion(history).turn.length
  return {
    agentId: agent.id, path, text, reasoning, waiting,
    messages: state.messages.slice(begun),
    ...recalled === undefined ? {} : { recalled },
    step: state.step, toolCalls: state.toolCalls, reminders: state.reminders, calledTools: [...state.calledTools],
    spent: state.ledger.spent(), workedMs: workedMs(state),
    calls: calls.map(asStored),
    results: results.map(({ call: { callId }, content, ran, outcome }) => ({ callId, content, ran, outcome }))
  }
}

/** The step that a checkpoint stopped in; a tool that is not offered any more is told so. */
export function stoppedStep ({ text, reasoning, calls }: FrameCheckpoint, toolset: Toolset): Said {
  return { text, reasoning, calls: calls.map((call) => checkCall({ ...call, complete: true }, toolset)) }
}

function asStored ({ callId, modelName, toolName, arguments: text, input }: CheckedCall): FrameCheckpoint['calls'][number] {
  return { callId, modelName, toolName, arguments: text, input: toJsonSafe(input) }
}
