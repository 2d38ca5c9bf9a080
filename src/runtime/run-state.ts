import { randomUUID } from 'node:crypto'
import { addCost } from '../events/cost.ts'
import { addUsage, noUsage, type Usage } from '../events/usage.ts'
import type { ModelMessage } from '../models/model.ts'

/** What one run has gathered so far. Local to its loop; nothing else holds it. */
export interface RunState {
  /** The conversation as the model sees it, growing with each step. */
  readonly messages: ModelMessage[]
  step: number
  toolCalls: number
  usage: Usage
  /** Of all calls, in US dollars; undefined once the price of one is not known. */
  costUsd: number | undefined
  readonly calledTools: Set<string>
  reminders: number
  nextBlockId: () => string
  /** The number a source is cited by; undefined for one that was named before. */
  citeSource: (sourceId: string) => number | undefined
  /** The provider's id while it is unused in this conversation, a fresh one otherwise: some repeat theirs every round. */
  uniqueCallId: (callId: string) => string
}

export function createRunState (history: readonly ModelMessage[]): RunState {
  const callIds = new Set(history.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : []))
  const sources = new Set<string>()
  let blocks = 0
  return {
    messages: [...history],
    step: 0,
    toolCalls: 0,
    usage: noUsage,
    costUsd: 0,
    calledTools: new Set(),
    reminders: 0,
    nextBlockId: () => `b${++blocks}`,
    citeSource (sourceId) {
      if (sources.has(sourceId)) return undefined
      sources.add(sourceId)
      return sources.size
    },
    uniqueCallId (callId) {
      const unique = callIds.has(callId) ? `call_${randomUUID()}` : callId
      callIds.add(unique)
      return unique
    }
  }
}

export function recordUsage (state: RunState, usage: Usage, costUsd: number | undefined): void {
  state.usage = addUsage(state.usage, usage)
  state.costUsd = addCost(state.costUsd, costUsd)
}
