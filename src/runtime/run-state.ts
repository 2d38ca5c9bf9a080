import { randomUUID } from 'node:crypto'
import type { ModelMessage } from '../models/model.ts'
import type { Asking } from './asking.ts'
import { createInputGauge, type InputGauge } from './input-gauge.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { RunawayGuard } from './runaway.ts'

/** What all agents of one run share, however deep they work. */
export interface SharedState {
  nextBlockId: () => string
  /** The number a source is cited by; undefined for one that was named before. */
  citeSource: (sourceId: string) => number | undefined
  /** The provider's id while it is unused in this conversation, a fresh one otherwise: some repeat theirs every round. */
  uniqueCallId: (callId: string) => string
}

/** What one agent has gathered so far in a run. Local to its loop; nothing else holds it. */
export interface RunState extends SharedState {
  /** The conversation as the model sees it, growing with each step. */
  readonly messages: ModelMessage[]
  /** What the agent is to answer. */
  readonly question: ModelMessage | undefined
  /** On the clock of performance.now(), in milliseconds; later by the time it was suspended. */
  readonly startedAt: number
  /** What its memory gave in place of the conversation before the question; undefined without a memory. */
  recalled: readonly ModelMessage[] | undefined
  /** What ended the conversation; it is not in `messages`, which models are given. */
  answer: ModelMessage | undefined
  step: number
  toolCalls: number
  /** What the agent has spent, with everything below it; the root's is the run's. */
  readonly ledger: Ledger
  readonly gauge: InputGauge
  /** Once tools have been called. */
  runaway: RunawayGuard | undefined
  /** Once the model is asked. */
  asking: Asking | undefined
  readonly calledTools: Set<string>
  reminders: number
}

export function createSharedState ({ callIds }: { readonly callIds: Iterable<string> }): SharedState {
  // Made when they are needed: most answers call nothing and cite nothing.
  let usedCallIds: Set<string> | undefined
  let sources: Set<string> | undefined
  let blocks = 0
  return {
    nextBlockId: () => `b${++blocks}`,
    citeSource (sourceId) {
      sources ??= new Set()
      if (sources.has(sourceId)) return undefined
      sources.add(sourceId)
      return sources.size
    },
    uniqueCallId (callId) {
      usedCallIds ??= new Set(callIds)
      const unique = usedCallIds.has(callId) ? `call_${randomUUID()}` : callId
      usedCallIds.add(unique)
      return unique
    }
  }
}

export interface RunStateOptions {
  readonly shared?: SharedState
  readonly ledger?: Ledger | undefined
}

/** Of an agent that shares nothing with others where the options do not say so. */
export function createRunState (history: readonly ModelMessage[], { shared = createSharedState({ callIds: callIdsOf(history) }), ledger = createLedger() }: RunStateOptions = {}): RunState {
  const { nextBlockId, citeSource, uniqueCallId } = shared
  return {
    nextBlockId, citeSource, uniqueCallId, ledger,
    messages: [...history],
    question: history.findLast((message) => message.role === 'user'),
    startedAt: performance.now(),
    step: 0,
    toolCalls: 0,
    gauge: createInputGauge(),
    runaway: undefined,
    asking: undefined,
    recalled: undefined,
    answer: undefined,
    calledTools: new Set(),
    reminders: 0
  }
}

/** How long the agent has worked, in milliseconds, without the time it was suspended. */
export function workedMs ({ startedAt }: Pick<RunState, 'startedAt'>): number {
  return performance.now() - startedAt
}

/** The ids of all calls that are told in a conversation. */
export function callIdsOf (messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : [])
}
