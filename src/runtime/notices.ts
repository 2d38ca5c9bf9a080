import { AppError, toPublicError } from '../errors.ts'
import type { RunEventBody } from '../events/run-event.ts'
import { closeBlock, newBlocks, writeText } from './blocks.ts'
import type { Frame } from './frame.ts'
import type { ModelStepOutcome } from './model-step.ts'

/** A filtered or empty answer never passes for a good one. */
export function noticeFor ({ text, finishReason }: ModelStepOutcome, { state, path }: Frame): RunEventBody[] {
  if (finishReason === 'content-filter') {
    const { code, message, retryable, ref } = toPublicError(new AppError('content_filtered', "The answer was cut by the provider's content filter."))
    return [{ type: 'data', name: 'error', data: { code, message, retryable, ref } }]
  }
  // After a tool has run, saying nothing more can be the right answer; a member is asked for its report.
  if (text === '' && state.step === 1 && path.length === 0 && finishReason !== 'length') throw new AppError('provider_unavailable', 'The model gave an empty answer. Try again.')
  return []
}

// What follows is said in a step of its own: a client that sends tool results by itself would otherwise send these, as of a
// run that waits. A member says it to nobody.

/** For a run that a limit of its loop has ended. */
export function cappedNotice ({ mode, path, state }: Frame, { text }: ModelStepOutcome): RunEventBody[] {
  if (path.length > 0 || (mode === 'headless' && text !== '')) return []
  return saying(state, `I stopped at the limit of this run (${state.step} steps, ${state.toolCalls} tool calls) without a finished answer.`)
}

/** For a run whose budget does not even allow the model to answer. */
export function budgetNotice ({ path, state }: Pick<Frame, 'path' | 'state'>): RunEventBody[] {
  return path.length > 0 ? [] : saying(state, 'I stopped because the budget of this run is used up.')
}

/** For a run that its agent's own condition has ended: an empty step. What a program gets is what was said before. */
export function stopNotice ({ mode, path, state }: Frame): RunEventBody[] {
  return path.length > 0 || mode === 'headless' ? [] : saying(state, '')
}

function saying (state: Frame['state'], text: string): RunEventBody[] {
  const step = state.step + 1
  const events: RunEventBody[] = [{ type: 'step-start', step }]
  const blocks = newBlocks(state.nextBlockId)
  if (text !== '') writeText(blocks, text, events)
  closeBlock(blocks, events)
  return [...events, { type: 'step-end', step }]
}
