import { AppError } from '../../errors.ts'
import { isTerminal, type RunEvent, type TerminalEvent } from '../../events/run-event.ts'
import type { BatchStream } from '../../streams/batch.ts'
import { createAnswerReader, headOf, usageOf, type CompletionOptions } from './chunks.ts'

/** Reads a run to its end and answers with one chat completion. Throws what broke the run. */
export async function collectCompletion (events: BatchStream<RunEvent>, options: CompletionOptions): Promise<object> {
  const answer = createAnswerReader(options)
  let head = {}
  let content = ''
  let reasoning = ''
  let end: TerminalEvent | undefined
  for await (const batch of events) {
    for (const event of batch) {
      if (event.type === 'message-start') head = headOf(event, 'chat.completion', options.model)
      const said = answer.read(event)
      content += said.text
      reasoning += said.reasoning
      if (isTerminal(event)) end = event
    }
  }
  if (end === undefined) throw new Error('The run ended without a terminal event')
  if (end.type === 'run-failed' || end.type === 'run-interrupted') throw new AppError(end.code, end.message)
  const message = { role: 'assistant', content, refusal: null, ...(reasoning === '' ? {} : { reasoning_content: reasoning }) }
  return { ...head, choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason(end) }], usage: usageOf(answer.usage()) }
}
