import { randomUUID } from 'node:crypto'
import { addUsage, noUsage, type Usage } from '../events/usage.ts'
import type { ModelMessage } from '../models/model.ts'

/** What all agents of one run share, however deep they work. */
export interface SharedState {
  nextBlockId: () => string
  /** The number a source is cited by; undefined for one that was named before. */
  citeSource: (sourceId: string) => number | undefined
  /** The provider's id while it is unused in this conversation, a fresh one otherwise: some repeat theirs every round. */
  uniqueCallId: (callId: string) => string
  /** Of all model calls so far, those of members and those that failed included. */
  usage: () => Usage
  spend: (usage: Usage) => void
}

/** What one agent has gathered so far in a run. Local to its loop; nothing else holds it. */
export interface RunState extends SharedState {
  /** The conversation as the model sees it, growing with each step. */
  readonly messages: ModelMessage[]
  /** What its memory gave in place of the conversation before the question; undefined without a memory. */
  recalled: readonly ModelMessage[] | undefined
  /** What ended the conversation; it is not in `messages`, which models are given. */
  answer: ModelMessage | undefined
  step: number
  toolCalls: number
  readonly calledTools: Set<string>
  reminders: number
}

export function createSharedState ({ callIds, usage: spent = noUsage }: { readonly callIds: Iterable<string>, readonly usage?: Usage | undefined }): SharedState {
  const usedCallIds = new Set(callIds)
  const sources = new Set<string>()
  let usage = spent
  let blocks = 0
  return {
    nextBlockId: () => `b${++blocks}`,
    citeSource (sourceId) {
      if (sources.has(sourceId)) return undefined
      sources.add(sourceId)
      return sources.size
    },
    uniqueCallId (callId) {
      const unique = usedCallIds.has(callId) ? `call_${randomUUID()}` : callId
      usedCallIds.add(unique)
      return unique
    },
    usage: () => usage,
    spend: (more) => { usage = addUsage(usage, more) }
  }
}

export function createRunState (history: readonly ModelMessage[], shared: SharedState): RunState {
  return { ...shared, messages: [...history], recalled: undefined, answer: undefined, step: 0, toolCalls: 0, calledTools: new Set(), reminders: 0 }
}

/** The ids of all calls that are told in a conversation. */
export function callIdsOf (messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : [])
}

export function recordUsage (state: RunState, usage: Usage): void {
  state.spend(usage)
}
