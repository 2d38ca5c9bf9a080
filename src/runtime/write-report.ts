import type { RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import type { Frame } from './frame.ts'
import { reportRequest } from './member-report.ts'
import { askModel } from './ask-model.ts'
import { noTools } from './toolset.ts'

/** One more model call, without tools, for a member that ended without a word; empty when that fails too, with its step left open. */
export async function * writeReport (frame: Frame, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, string> {
  const { state, run } = frame
  state.step++
  state.messages.push({ role: 'user', content: reportRequest })
  yield [{ type: 'step-start', step: state.step }]
  try {
    const { text, finishReason, usage } = yield * askModel(frame, { offered: noTools, holdText: false }, signal)
    yield [{ type: 'step-end', step: state.step, finishReason, usage }]
    return text
  } catch (error) {
    if (signal.aborted) throw signal.reason
    run.deps.log.warn({ err: error, agent: frame.agent.key }, 'a member could not write its report')
    return ''
  }
}
