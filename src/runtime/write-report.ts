import type { RunEventBody } from '../events/run-event.ts'
import type { Batch } from '../streams/batch.ts'
import type { Frame } from './frame.ts'
import { reportRequest } from './member-report.ts'
import { askModel } from './ask-model.ts'
import { noTools } from './toolset.ts'

/** One more model call, without tools, for a member that ended without a word; empty when that fails too, with its step left open, and when there is no budget left for it. */
export async function * writeReport (frame: Frame, signal: AbortSignal): AsyncGenerator<Batch<RunEventBody>, string> {
  const { state, run } = frame
  state.messages.push({ role: 'user', content: reportRequest })
  try {
    const outcome = yield * askModel(frame, { offered: noTools, holdText: false }, signal)
    if (outcome === undefined) return ''
    const { text, finishReason, usage } = outcome
    yield [{ type: 'step-end', step: state.step, finishReason, usage }]
    return text
  } catch (error) {
    if (signal.aborted) throw signal.reason
    run.deps.log.warn({ err: error, agent: frame.agent.key }, 'a member could not write its report')
    return ''
  }
}
