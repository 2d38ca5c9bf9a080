import { storageUnavailable, toPublicError } from '../errors.ts'
import { isTerminal, type FinishReason, type RunEventBody, type TerminalEvent } from '../events/run-event.ts'
import { totalCost } from '../events/cost.ts'
import { addUsage, noUsage } from '../events/usage.ts'
import { createAssembler } from '../messages/assembler.ts'
import type { MessagePart } from '../messages/parts.ts'
import type { Spent } from '../runtime/ledger.ts'
import type { RunLogger } from '../runtime/log.ts'
import type { Suspension } from '../runtime/suspension.ts'
import { delay } from '../streams/abort.ts'
import type { Batch } from '../streams/batch.ts'
import type { MessageStatus } from '../threads/message.ts'
import type { Checkpointer, CheckpointSource } from './checkpointer.ts'
import type { RunStatus, TurnEnd, TurnStore, UsageRecord } from './turn-store.ts'

export interface TurnRecorder {
  /**
   * Takes a batch before anyone sees it. A batch that ends the run is stored first; where that could not be done, what
   * comes back closes what was open all the same, and says how the run ended instead.
   */
  record: (events: Batch<RunEventBody>) => Promise<Batch<RunEventBody>>
}

export interface TurnRecorderOptions {
  readonly turns: TurnStore
  readonly checkpointer: Checkpointer
  readonly holder: string
  readonly runId: string
  readonly messageId: string
  /** What the message already says, when this run continues it. */
  readonly initialParts: readonly MessagePart[]
  /** What earlier runs of the message have taken. */
  readonly initialSpent?: Spent | undefined
  /** How long they have worked on it, in milliseconds. */
  readonly initialMs?: number | undefined
  /** What to keep of the run, where it ends waiting. */
  readonly suspension: () => Suspension | undefined
  /** Ends the run from outside: its row is lost, or the store is. */
  readonly abort: (reason: Error) => void
  readonly lost: () => Error
  readonly log: RunLogger
}

const finishAttempts = 3

/** Keeps one turn's message: parts from the same events that go to the wire, saved while it runs and once when it ends. */
export function createTurnRecorder (options: TurnRecorderOptions): TurnRecorder {
  const { turns, checkpointer, holder, runId, messageId } = options
  const assembler = createAssembler(options.initialParts)
  const usageRecords: UsageRecord[] = []
  const startedAt = performance.now() - (options.initialMs ?? 0)
  let characters = JSON.stringify(options.initialParts).length
  let usage = options.initialSpent?.usage ?? noUsage
  let finishReason: FinishReason | undefined
  const source: CheckpointSource = {
    runId,
    snapshot: () => ({ runId, messageId, parts: assembler.parts(), processingMs: Math.round(performance.now() - startedAt) }),
    characters: () => characters,
    onLost: () => { options.abort(options.lost()) },
    onFailure: options.abort
  }

  return {
    async record (events) {
      let end: TerminalEvent | undefined
      for (const event of events) {
        assembler.apply(event)
        note(event)
        if (isTerminal(event)) end = event
      }
      if (end === undefined) {
        checkpointer.touch(source)
        return events
      }
      checkpointer.forget(runId)
      const otherEnd = await finish(end)
      return otherEnd === undefined ? events : [...events.filter((event) => event.type !== 'message-end' && !isTerminal(event)), otherEnd]
    }
  }

  function note (event: RunEventBody): void {
    if ('delta' in event) characters += event.delta.length
    if (event.type === 'tool-output') characters += JSON.stringify(event.output)?.length ?? 0
    if (event.type === 'usage') {
      usage = addUsage(usage, event.buckets)
      const agentPath = (event.agentPath ?? []).map(({ name }) => name).join('/')
      usageRecords.push({ agentPath, model: event.model, usage: event.buckets, costUsd: event.costUsd, estimated: event.estimated === true })
    } else if (event.type === 'message-end') {
      finishReason = event.finishReason
    }
  }

  /** Undefined when all went well; otherwise what ends the run in place of the planned end. */
  async function finish (end: TerminalEvent): Promise<TerminalEvent | undefined> {
    const turnEnd = turnEndOf(end)
    for (let attempt = 1; ; attempt++) {
      try {
        if (await turns.finish(holder, turnEnd)) return undefined
        return { type: 'run-stopped', reason: 'the thread is gone' }
      } catch (error) {
        options.log.error({ err: error, runId, attempt }, 'storing the end of a run failed')
        if (attempt === finishAttempts) return { type: 'run-failed', ...withoutDetails(toPublicError(storageUnavailable(error))) }
        await delay(attempt * 200)
      }
    }
  }

  function turnEndOf (end: TerminalEvent): TurnEnd {
    const parts = assembler.parts()
    const status = statusOf(end)
    const failed = end.type === 'run-failed' || end.type === 'run-interrupted'
    return {
      runId,
      messageId,
      runStatus: status,
      messageStatus: status,
      parts,
      finishReason: finishReason ?? fallbackReason(end),
      usage,
      costUsd: totalCost([...options.initialSpent === undefined ? [] : [options.initialSpent], ...usageRecords].map((taken) => taken.costUsd)),
      processingMs: end.processingMs,
      usageRecords,
      discardMessage: end.type === 'run-stopped' && saysNothing(parts),
      ...(end.type === 'run-suspended' ? { suspension: options.suspension() } : {}),
      ...(failed ? { errorCode: end.code, errorRef: end.ref } : {})
    }
  }
}

function statusOf (end: TerminalEvent): Exclude<RunStatus, 'queued' | 'running'> & MessageStatus {
  switch (end.type) {
    case 'run-completed': return 'completed'
    case 'run-suspended': return 'suspended'
    case 'run-stopped': return 'stopped'
    case 'run-failed': return 'failed'
    case 'run-interrupted': return 'interrupted'
    default: return end satisfies never
  }
}

function fallbackReason (end: TerminalEvent): FinishReason {
  if (end.type === 'run-suspended') return 'tool-calls'
  return end.type === 'run-stopped' ? 'other' : 'error'
}

/** Steps and empty blocks are no answer. */
function saysNothing (parts: readonly MessagePart[]): boolean {
  return parts.every((part) => part.type === 'step-start' || ((part.type === 'text' || part.type === 'reasoning') && part.text === ''))
}

function withoutDetails ({ code, message, retryable, ref }: ReturnType<typeof toPublicError>) {
  return { code, message, retryable, ref }
}
