import { randomUUID } from 'node:crypto'
import type { Usage } from '../events/usage.ts'
import type { ModelMessage } from '../models/model.ts'
import { createInputGauge, type InputGauge } from './input-gauge.ts'
import { createLedger, type Ledger } from './ledger.ts'

/** What one run has gathered so far. Local to its loop; nothing else holds it. */
export interface RunState {
  /** The conversation as the model sees it, growing with each step. */
  readonly messages: ModelMessage[]
  /** What the run is to answer. */
  readonly question: ModelMessage | undefined
  /** On the clock of performance.now(), in milliseconds. */
  readonly startedAt: number
  step: number
  toolCalls: number
  /** What the run has spent, with everything below it. */
  readonly ledger: Ledger
  /** The ledger's usage. */
  readonly usage: Usage
  readonly gauge: InputGauge
  readonly calledTools: Set<string>
  reminders: number
  nextBlockId: () => string
  /** The number a source is cited by; undefined for one that was named before. */
  citeSource: (sourceId: string) => number | undefined
  /** The provider's id while it is unused in this conversation, a fresh one otherwise: some repeat theirs every round. */
  uniqueCallId: (callId: string) => string
}

export function createRunState (history: readonly ModelMessage[], ledger: Ledger = createLedger()): RunState {
  const callIds = new Set(history.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : []))
  const sources = new Set<string>()
  let blocks = 0
  return {
    messages: [...history],
    question: history.findLast((message) => message.role === 'user'),
    startedAt: performance.now(),
    step: 0,
    toolCalls: 0,
    ledger,
    get usage () { return ledger.spent().usage },
    gauge: createInputGauge(),
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
