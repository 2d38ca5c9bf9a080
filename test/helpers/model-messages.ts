import type { ModelMessage } from '../../src/models/model.ts'

/** Calls without their result right behind them, and results without their call. */
export function brokenPairs (messages: readonly ModelMessage[]): string[] {
  const faults: string[] = []
  let waiting: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (waiting.shift() !== message.callId) faults.push(`the result of ${message.callId} is out of place`)
      continue
    }
    if (waiting.length > 0) faults.push(`no result of ${waiting.join()}`)
    waiting = message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : []
  }
  return waiting.length === 0 ? faults : [...faults, `no result of ${waiting.join()}`]
}
